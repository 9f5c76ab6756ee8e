package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/config"
)

// mostOff is how far this machine's clock may be from Twitch's.
const mostOff = 5 * time.Second

// clock compares this machine's clock with Twitch's: limits judge by when Twitch took a message.
func (d *doctor) clock(ctx context.Context) []finding {
	off, err := d.clockOff(ctx)
	switch {
	case err != nil:
		return []finding{wrong(networkMend, "Twitch doesn't tell the time: %v", err)}
	case off.Abs() <= mostOff:
		return []finding{fine("within %.0f s of Twitch's", mostOff.Seconds())}
	}
	than := "behind"
	if off > 0 {
		than = "ahead of"
	}
	return []finding{wrong("let this machine set its clock by the network (NTP)", "this machine's clock is %s %s Twitch's", off.Abs().Round(time.Second), than)}
}

// clockOff is how far this machine's clock is ahead of Twitch's, which every answer tells.
func (d *doctor) clockOff(ctx context.Context) (time.Duration, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.cfg.Twitch.HelixURL+"/users", nil)
	if err != nil {
		return 0, err
	}
	client := &http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: d.dial, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	asked := d.now()
	answer, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	took := d.now().Sub(asked)
	if err := answer.Body.Close(); err != nil {
		return 0, err
	}
	told, err := http.ParseTime(answer.Header.Get("Date"))
	// It was told on the way, as whole seconds.
	return asked.Add(took / 2).Sub(told.Add(time.Second / 2)), err
}

// tokenFile looks whether the token's file is as it should be. Where it can't be written the token is left alone: what a renewal gives would be lost.
func (d *doctor) tokenFile(ctx context.Context) []finding {
	path := d.tokens.File
	if !hasToken(d.cfg) {
		return []finding{noted("%s doesn't exist yet: `chatguard login` makes it", path)}
	}
	err := d.tokens.CanStore(ctx)
	d.unstorable = err != nil
	if err == nil {
		err = twitch.CheckTokenFile(path)
	}
	if err != nil {
		return []finding{wrongBy(err)}
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return []finding{noted("%s doesn't exist yet: the environment's token goes there", path)}
	}
	return []finding{fine("%s, which nobody else can read", path)}
}

// token lets Twitch say whose the token is.
func (d *doctor) token(ctx context.Context) []finding {
	if d.unstorable {
		return []finding{noted("not looked at: its file has to be mended first")}
	}
	if err := d.askAboutToken(ctx); err != nil {
		return []finding{wrongBy(err)}
	}
	switch s := d.tokens.Status(); {
	case isKnown(s) && s.State == twitch.TokenGood:
		return d.goodToken(s)
	case s.State == twitch.TokenMissing:
		if d.cfg.Twitch.Transport == config.TransportEventSub {
			return []finding{wrong("run `chatguard login`", "there is none, and EventSub can't be read without")}
		}
		if enforces(d.cfg) {
			return []finding{wrong("run `chatguard login`", "there is none: chatguard only observes, although it is to enforce")}
		}
		return []finding{noted("there is none: chatguard only reads, until a `chatguard login`")}
	case s.State == twitch.TokenRevoked:
		return []finding{wrong("run `chatguard login`", "Twitch doesn't take it any more")}
	default:
		return []finding{wrong(networkMend, "Twitch can't be asked about it: %s", s.Detail)}
	}
}

// askAboutToken looks after the token until it is known whether it is good, or the context ends. The error is for a file that can't be read.
func (d *doctor) askAboutToken(ctx context.Context) error {
	asking, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- d.tokens.Run(asking) }()
	for {
		select {
		case err := <-ended:
			stop()
			return err
		case <-d.twitch.rights.news:
			if isKnown(d.tokens.Status()) {
				stop()
				return <-ended
			}
		}
	}
}

// isKnown reports whether it is known of a token whether it is good, and whose it is then.
func isKnown(s twitch.TokenStatus) bool {
	return s.State != twitch.TokenUnknown && (s.State != twitch.TokenGood || s.Identity.UserID != "")
}

// goodToken says whose a good token is, and makes ready to use it.
func (d *doctor) goodToken(s twitch.TokenStatus) []finding {
	d.helix = d.twitch.helix
	until := ""
	if !s.ExpiresAt.IsZero() {
		until = ", good until " + moment(s.ExpiresAt)
	}
	if id := d.cfg.Twitch.ClientID; id != "" && id != s.Identity.ClientID {
		return []finding{wrong("run `chatguard login` again", "that of %s was made for another application than twitch.client_id", s.Identity.Login)}
	}
	list := []finding{fine("that of %s%s", s.Identity.Login, until)}
	if !s.Renewable {
		list = append(list, noted("it can't be renewed, and so works until it expires: one of `chatguard login` renews itself"))
	}
	return list
}

// scopes says what the token doesn't allow that chatguard needs.
func (d *doctor) scopes(context.Context) []finding {
	if d.helix == nil {
		return needsToken()
	}
	missing := d.tokens.Status().Missing
	if len(missing) == 0 {
		return []finding{fine("the token allows all that is needed")}
	}
	var lacks []string
	for _, s := range twitch.Scopes {
		if slices.Contains(missing, s.Name) {
			lacks = append(lacks, fmt.Sprintf("%s (%s)", s.Name, s.For))
		}
	}
	return []finding{wrong("run `chatguard login` again", "the token lacks %s", strings.Join(lacks, ", "))}
}

// channels says which channels don't exist.
func (d *doctor) channels(ctx context.Context) (list []finding) {
	if d.helix == nil {
		return needsToken()
	}
	accounts, err := d.helix.Users(ctx, d.cfg.Twitch.Channels...)
	if err != nil {
		return []finding{wrongBy(err)}
	}
	d.accounts = append([]twitch.Account{}, accounts...) // not nil, even where there are none
	for _, login := range d.cfg.Twitch.Channels {
		if _, exists := accountOf(accounts, login); !exists {
			list = append(list, wrong("correct twitch.channels in "+d.cfg.Path, "Twitch has no channel %q", login))
		}
	}
	if len(list) == 0 {
		return []finding{fine("Twitch has %s", channelNames(d.cfg.Twitch.Channels))}
	}
	return list
}

// moderator says where the bot is no moderator. That is a problem only where it is to act.
func (d *doctor) moderator(ctx context.Context) (findings []finding) {
	switch {
	case d.helix == nil:
		return needsToken()
	case len(d.accounts) == 0:
		return []finding{noted("not looked at: there is no channel, as far as Twitch has told")}
	}
	me := d.tokens.Status().Identity
	moderates, err := whereModerator(ctx, d.helix, me.UserID)
	if err != nil {
		return []finding{wrongBy(err)}
	}
	var where []string
	for _, a := range d.accounts {
		switch policy := d.cfg.PolicyFor(a.Login, a.ID); {
		case moderates(a.ID):
			where = append(where, a.Login)
		case policy.Mode == chatguard.Enforce:
			findings = append(findings, wrong(modMend(me.Login, a.Login), "%s is no moderator in #%s, and so only observes there", me.Login, a.Login))
		default:
			findings = append(findings, noted("%s is no moderator in #%s, which only observing doesn't need", me.Login, a.Login))
		}
	}
	if len(where) > 0 {
		slices.Sort(where)
		findings = append(findings, fine("%s is one in %s", me.Login, channelNames(where)))
	}
	return findings
}
