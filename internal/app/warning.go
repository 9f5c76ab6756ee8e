package app

import (
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
)

// warn logs settings that don't have the effect they seem to have.
func warn(c config.Config, log *slog.Logger) {
	warnUnlisted(c, log)
	if UntrustedProxy(c.Web) {
		log.Warn(UntrustedProxyProblem, "file", c.Path, "fix", UntrustedProxyFix)
	}
	if in := SignInObstacle(c); in != nil {
		log.Warn("web.twitch_sign_in is set, but nobody can sign in with Twitch: "+in.Problem, "file", c.Path, "fix", in.Fix)
	}
	if len(c.Web.Owners) > 0 && !c.Web.TwitchSignIn {
		log.Warn("web.owners has no effect: nobody can sign in with Twitch", "file", c.Path, "fix", "set web.twitch_sign_in to true")
	}
	if in := ViewerObstacle(c); in != nil {
		log.Warn("web.viewer_page is set, but no viewer can sign in with Twitch: "+in.Problem, "file", c.Path, "fix", in.Fix)
	}
	if Enforces(c) && !HasToken(c) {
		log.Warn(noTokenYet, "file", c.Path)
	}
}

// noTokenYet is the message for a bot that should enforce but has no token.
const noTokenYet = "Not enforcing yet: the bot has no token. Run `chatguard login`."

// Enforces reports whether any policy of Twitch's channels enforces.
func Enforces(c config.Config) bool {
	if len(c.Twitch.Channels) == 0 {
		return false
	}
	_, strangers := Unlisted(c)
	for name, p := range c.Channels {
		if p.Mode == chatguard.ModeEnforce && !c.IsChecked(name) && !slices.Contains(strangers, name) {
			return true
		}
	}
	return c.Policy.Mode == chatguard.ModeEnforce
}

// The messages about an untrusted proxy.
const (
	UntrustedProxyProblem = "web.public_url is set, but web.trusted_proxies is empty: everybody who comes through the proxy counts as one address"
	UntrustedProxyFix     = `set web.trusted_proxies to the proxy's address, such as ["127.0.0.1"] for one on this machine`
)

// UntrustedProxy reports whether users connect through a proxy whose headers are not trusted. A
// dashboard with its own certificate, or on localhost, needs no proxy.
func UntrustedProxy(w config.Web) bool {
	return w.PublicURL != "" && len(w.TrustedProxies) == 0 && w.TLSCert == "" && Site(w).PublicURL.Hostname() != "localhost"
}

// warnUnlisted logs a warning for each channel table whose channel is not moderated.
func warnUnlisted(c config.Config, log *slog.Logger) {
	_, strangers := Unlisted(c)
	for _, name := range strangers {
		log.Warn("a table for a channel that isn't in twitch.channels: it has no effect unless a server asks about it", "table", "[channel."+name+"]",
			"file", c.Path)
	}
}

// Unlisted returns the names of tables that are neither in twitch.channels nor in check.channels.
// ids are the names that may be a channel's ID, and strangers are the others.
func Unlisted(c config.Config) (ids, strangers []string) {
	for _, name := range slices.Sorted(maps.Keys(c.Channels)) {
		switch {
		case slices.Contains(c.Twitch.Channels, name), c.IsChecked(name):
		case strings.Trim(name, "0123456789") == "":
			ids = append(ids, name)
		default:
			strangers = append(strangers, name)
		}
	}
	return ids, strangers
}
