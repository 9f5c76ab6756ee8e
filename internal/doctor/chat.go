package doctor

import (
	"context"
	"time"

	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/token"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/hostile"
)

// checkChat reads one channel for a moment, as a running chatguard would. Reading more channels
// would use up the joins that Twitch allows the account.
func (d *Doctor) checkChat(ctx context.Context) []Finding {
	login, address := d.readableChannel(), d.chatAddress()
	switch {
	case login == "":
		return []Finding{noteFinding("not read: twitch.channels names no channel that exists")}
	case app.FitTransport(d.cfg, d.cfg.Twitch.Transport) != nil:
		return []Finding{noteFinding("not read: twitch.channels names too many")}
	case d.helix == nil && d.cfg.Twitch.Transport == config.TransportEventSub:
		return skipWithoutToken()
	}
	if err := d.twitch.SetChannels([]string{login}); err != nil {
		return []Finding{problemFrom(err)}
	}
	entered, s, err := d.readFor(ctx)
	transport := d.cfg.Twitch.Transport
	switch {
	case entered:
		return []Finding{okFinding("#%s can be read over %s at %s, %s", login, transport, address, d.readerName())}
	case err != nil:
		return []Finding{problemFrom(err)}
	case s.Channels[0].Problem != "":
		return []Finding{problem("correct twitch.channels in "+d.cfg.Path, "#%s can't be read over %s at %s: %s", login, transport, address, s.Channels[0].Problem)}
	case s.State == twitch.Connected:
		return []Finding{problem("correct twitch.channels in "+d.cfg.Path, "%s at %s doesn't let us into #%s", transport, address, login)}
	}
	trouble := noAnswer
	if s.Failure != nil {
		trouble = hostile.Detail(s.Failure.Error())
	}
	return []Finding{problem(networkFix+", or set twitch.transport to another one", "%s at %s can't be reached: %s", transport, address, trouble)}
}

// readFor reads until it has joined a channel or the context ends. It returns an error if trying
// again doesn't help.
func (d *Doctor) readFor(ctx context.Context) (entered bool, s twitch.Status, err error) {
	reading, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- d.twitch.Read(reading, discardSink{}) }()
	select {
	case <-d.entered:
		entered = true
	case err = <-ended:
		stop()
		return false, d.twitch.Status(), err
	case <-ctx.Done():
	}
	s = d.twitch.Status() // read it before the reader stops
	stop()
	return entered, s, <-ended
}

// readableChannel returns a channel that is believed to exist, or "" if there is none.
func (d *Doctor) readableChannel() string {
	switch {
	case len(d.accounts) > 0:
		return d.accounts[0].Login
	case d.accounts == nil && len(d.cfg.Twitch.Channels) > 0:
		return d.cfg.Twitch.Channels[0]
	default:
		return ""
	}
}

func (d *Doctor) chatAddress() string {
	switch t := d.cfg.Twitch; t.Transport {
	case config.TransportEventSub:
		return t.EventSubURL
	case config.TransportIRCWebSocket:
		return t.IRCWebSocketURL
	default:
		return t.IRCAddress
	}
}

// readerName returns how the doctor reads the chat: with which account, or without one.
func (d *Doctor) readerName() string {
	if d.helix == nil || d.tokens.Status().State != token.Good {
		return "without an account"
	}
	return "as " + d.tokens.Status().Identity.Login
}

// discardSink is a sink that ignores everything.
type discardSink struct{}

func (discardSink) Messages(time.Time, []chat.Message) {}
func (discardSink) Removed(chat.Removal)               {}
func (discardSink) Lifted(chat.Lift)                   {}
