package config

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/language"
)

// finish checks the values and converts them to the form that Config promises.
func (r *reader) finish(c *Config) error {
	if err := r.check(c); err != nil {
		return err
	}
	if err := r.normalise(c); err != nil {
		return err
	}
	if len(c.Policy.Limits) == 0 {
		return r.fail(place{"limit"}, "an empty list would limit nobody (leave it out for the two default limits)")
	}
	r.fitExempt(&c.Policy, nil)
	return cmp.Or(r.checkPolicy(c.Policy, nil), r.checkTwitch(c, c.Policy, nil))
}

// check returns an error for a value that has the right type but can't work.
func (r *reader) check(c *Config) error {
	for _, check := range append(checkSettings(c.Raid, c.Notices, c.Web.ModeratorRole), []finding{
		{place{"database"}, checkFilePath(c.Database)},
		{place{"text_retention"}, checkDuration(c.TextRetention, 0, 2*day)},
		{place{"twitch", "transport"}, checkOneOf(c.Twitch.Transport, transports)},
		{place{"twitch", "irc_address"}, checkAddress(c.Twitch.IRCAddress, 1)},
		{place{"twitch", "irc_websocket_url"}, checkURL(c.Twitch.IRCWebSocketURL, "wss", "ws")},
		{place{"twitch", "eventsub_url"}, checkURL(c.Twitch.EventSubURL, "wss", "ws")},
		{place{"twitch", "helix_url"}, checkURL(c.Twitch.HelixURL, "https", "http")},
		{place{"twitch", "auth_url"}, checkURL(c.Twitch.AuthURL, "https", "http")},
		{place{"twitch", "auth_url"}, checkAuthURL(c.Twitch)},
		{place{"twitch", "token"}, checkPrintable(c.Twitch.Token)},
		{place{"twitch", "refresh_token"}, checkPrintable(c.Twitch.RefreshToken)},
		{place{"twitch", "client_secret"}, checkPrintable(c.Twitch.ClientSecret)},
		{place{"twitch", "slow_mode"}, checkSlowMode(c.Twitch.SlowMode)},
		{place{"shared", "mode"}, checkOneOf(c.Shared.Mode, shareModes)},
		{place{"shared", "url"}, checkNoPassword(c.Shared.URL)},
		{place{"shared", "url"}, checkSharedURL(c.Shared)},
		{place{"shared", "namespace"}, checkNamespace(c.Shared.Namespace)},
		{place{"shared", "node"}, checkNode(c.Shared.Node)},
		{place{"shared", "timeout"}, checkDuration(c.Shared.Timeout, time.Millisecond, 10*time.Second)},
		{place{"shared", "interval"}, checkDuration(c.Shared.Interval, 20*time.Millisecond, time.Minute)},
		{place{"shared", "interval"}, checkSharedInterval(c.Shared)},
		{place{"shared", "share"}, checkShare(c.Shared)},
		{place{"shared", "placement"}, checkOneOf(c.Shared.Placement, placements)},
		{place{"shared", "text_key"}, checkStrength(c.Shared.TextKey)},
		{place{"shared", "tls_ca"}, checkSharedTLS(c.Shared)},
		{place{"shared", "tls_cert"}, checkTLSFiles(c.Shared.TLSCert, c.Shared.TLSKey)},
		{place{"web", "token"}, checkPrintable(c.Web.Token)},
		{place{"web", "token"}, checkStrength(c.Web.Token)},
		{place{"web", "public_url"}, c.Web.CheckPublicURL()},
		{place{"web", "tls_cert"}, checkTLSFiles(c.Web.TLSCert, c.Web.TLSKey)},
		{place{"web", "listen"}, c.Web.CheckListen()},
		{place{"log", "format"}, checkOneOf(c.Log.Format, logFormats)},
		{place{"log", "level"}, checkOneOf(c.Log.Level, logLevels)},
	}...) {
		if check.err != nil {
			return r.fail(check.at, "%v", check.err)
		}
	}
	return nil
}

// finding is the result of checking the value at a place. Its err is nil if the value is valid.
type finding struct {
	at  place
	err error
}

// mostBurst is the maximum burst in raid mode, and mostStartRate the maximum rate at which it
// starts.
const (
	mostBurst     = 10_000
	mostStartRate = 10_000
)

// checkSettings checks the values that people can also change while chatguard runs.
func checkSettings(raid Raid, notices Notices, moderators auth.Access) []finding {
	return []finding{
		{place{"notices", "text"}, checkNotice(notices.Text)},
		{place{"notices", "cooldown"}, checkDuration(notices.Cooldown, time.Second, 7*day)},
		// Settings that were stored by earlier versions have no language.
		{place{"notices", "language"}, checkOneOf(cmp.Or(notices.Language, language.All[0]), language.All)},
		{place{"raid", "lasts"}, checkDuration(raid.Lasts, time.Second, day)},
		{place{"raid", "start_rate"}, checkNumber(raid.StartRate, 0, mostStartRate)},
		{place{"raid", "channel_burst"}, checkNumber(raid.Burst, 1, mostBurst)},
		{place{"raid", "channel_refill"}, checkDuration(raid.Refill, time.Millisecond, day)},
		{place{"raid", "first_timer_burst"}, checkNumber(raid.FirstTimerBurst, 1, mostBurst)},
		{place{"raid", "first_timer_refill"}, checkDuration(raid.FirstTimerRefill, time.Millisecond, day)},
		{place{"web", "moderator_role"}, checkOneOf(moderators, auth.ModeratorRoles())},
	}
}

// CheckSettings returns an error that names the first value of raid mode, the notices or the
// moderators' role that can't work.
func CheckSettings(raid Raid, notices Notices, moderators auth.Access) error {
	for _, check := range checkSettings(raid, notices, moderators) {
		if check.err != nil {
			return fmt.Errorf("%s: %w", check.at, check.err)
		}
	}
	return nil
}

func checkNumber(n, least, most int) error {
	if n < least || n > most {
		return fmt.Errorf("%d is not from %d to %d", n, least, most)
	}
	return nil
}

// normalise converts values that can be written in several ways to one form.
func (r *reader) normalise(c *Config) error {
	c.Timezone = cmp.Or(c.Timezone, "UTC")
	c.Policy.Timezone = c.Timezone
	for _, path := range []*string{&c.Database, &c.Web.TLSCert, &c.Web.TLSKey, &c.Shared.TLSCA, &c.Shared.TLSCert, &c.Shared.TLSKey} {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(filepath.Dir(c.Path), *path)
		}
	}
	t := &c.Twitch
	for _, address := range []*string{&t.IRCWebSocketURL, &t.EventSubURL, &t.HelixURL, &t.AuthURL, &c.Web.PublicURL} {
		*address = strings.TrimRight(*address, "/")
	}
	t.Token = Secret(strings.TrimPrefix(string(t.Token), "oauth:"))
	for _, list := range []struct {
		at     place
		logins []string
		what   string // for errors
	}{{place{"twitch", "channels"}, t.Channels, "channel name"}, {place{"web", "owners"}, c.Web.Owners, "login"}} {
		if err := normaliseLogins(list.logins, list.what); err != nil {
			return r.fail(list.at, "%v", err)
		}
	}
	for i, id := range c.Check.Channels {
		if err := checkChannel(c, id, i); err != nil {
			return r.fail(place{"check", "channels"}, "%v", err)
		}
	}
	return nil
}

// normaliseLogins replaces logins by the form that parseLogin returns.
func normaliseLogins(logins []string, what string) error {
	for i, name := range logins {
		login, err := parseLogin(name, what)
		if err == nil && slices.Contains(logins[:i], login) {
			err = fmt.Errorf("%q is listed twice", login)
		}
		if err != nil {
			return err
		}
		logins[i] = login
	}
	return nil
}

// checkChannel returns an error if no channel can have the ID, or if another channel already uses
// it.
func checkChannel(c *Config, id string, i int) error {
	switch {
	case id == "" || len(id) > journal.MaxAskedID || !hostile.IsPlain(id):
		return fmt.Errorf("%q is not a channel ID (want 1 to %d bytes without line breaks, as your server calls it)", id, journal.MaxAskedID)
	case slices.Contains(c.Check.Channels[:i], id):
		return fmt.Errorf("%q is listed twice", id)
	case slices.Contains(c.Twitch.Channels, channelKey(id)):
		return fmt.Errorf("%q is in twitch.channels too, and [channel.%s] would apply to both: use another ID here", id, channelKey(id))
	}
	return nil
}
