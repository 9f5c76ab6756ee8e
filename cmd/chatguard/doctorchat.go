package main

import (
	"context"
	"strings"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/config"
)

// chat reads one channel for a moment, the way a running chatguard would: more would take from the joins that Twitch allows the account.
func (d *doctor) chat(ctx context.Context) []finding {
	login, address := d.readable(), d.chatAddress()
	switch {
	case login == "":
		return []finding{noted("not read: twitch.channels names no channel that exists")}
	case fitTransport(d.cfg, d.cfg.Twitch.Transport) != nil:
		return []finding{noted("not read: twitch.channels names too many")}
	case d.helix == nil && d.cfg.Twitch.Transport == config.TransportEventSub:
		return needsToken()
	}
	if err := d.twitch.reader.SetChannels([]string{login}); err != nil {
		return []finding{wrongBy(err)}
	}
	entered, s, err := d.readFor(ctx)
	transport := d.cfg.Twitch.Transport
	switch {
	case entered:
		return []finding{fine("#%s can be read over %s at %s, %s", login, transport, address, d.readingAs())}
	case err != nil:
		return []finding{wrongBy(err)}
	case s.Channels[0].Problem != "":
		return []finding{wrong("correct twitch.channels in "+d.cfg.Path, "#%s can't be read over %s at %s: %s", login, transport, address, s.Channels[0].Problem)}
	case s.State == twitch.Connected:
		return []finding{wrong("correct twitch.channels in "+d.cfg.Path, "%s at %s doesn't let us into #%s", transport, address, login)}
	case s.Detail == "":
		s.Detail = noAnswer
	}
	trouble, _, _ := strings.Cut(s.Detail, "; connecting again")
	return []finding{wrong(networkMend+", or set twitch.transport to another one", "%s at %s can't be reached: %s", transport, address, trouble)}
}

// readFor reads until it is in a channel, or the context ends. The error is for what trying again doesn't help.
func (d *doctor) readFor(ctx context.Context) (entered bool, s twitch.Status, err error) {
	reading, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- d.twitch.reader.Run(reading, deaf{}) }()
	select {
	case <-d.entered:
		entered = true
	case err = <-ended:
		stop()
		return false, d.twitch.reader.Status(), err
	case <-ctx.Done():
	}
	s = d.twitch.reader.Status() // before it stops
	stop()
	return entered, s, <-ended
}

// readable is a channel that exists, as far as is known; empty where there is none.
func (d *doctor) readable() string {
	for _, login := range d.cfg.Twitch.Channels {
		if _, exists := accountOf(d.accounts, login); exists || d.accounts == nil {
			return login
		}
	}
	return ""
}

func (d *doctor) chatAddress() string {
	switch t := d.cfg.Twitch; t.Transport {
	case config.TransportEventSub:
		return t.EventSubURL
	case config.TransportIRCWebSocket:
		return t.IRCWebSocketURL
	default:
		return t.IRCAddress
	}
}

func (d *doctor) readingAs() string {
	if d.helix == nil || d.tokens.Status().State != twitch.TokenGood {
		return "without an account"
	}
	return "as " + d.tokens.Status().Identity.Login
}

// deaf is a sink for chat that nobody listens to.
type deaf struct{}

func (deaf) Messages([]chatguard.Message) {}
func (deaf) Removed(chat.Removal)         {}
