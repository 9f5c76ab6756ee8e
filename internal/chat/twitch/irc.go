package twitch

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/clock"
)

// The addresses of Twitch's chat.
const (
	tlsAddress   = "irc.chat.twitch.tv:6697"
	plainAddress = "irc.chat.twitch.tv:6667"
)

// IRC reads the chat of some channels. Fill its fields, then call Run, again too once it has returned; the fields are not to be changed after that.
// Status and SetChannels may be called from any goroutine at any time.
type IRC struct {
	// WebSocketURL is where to speak IRC over WebSocket, in place of TCP: Twitch's is wss://irc-ws.chat.twitch.tv:443. Empty means TCP.
	WebSocketURL string

	Address string // of TCP, as host:port; empty means Twitch's, for TLS or not

	// TLS over TCP: nil speaks plainly, which only a server on this machine should be trusted with; &tls.Config{} is right for Twitch. Over
	// WebSocket the URL says whether there is TLS, and nil is as good as &tls.Config{}.
	TLS *tls.Config

	Dial func(ctx context.Context, network, address string) (net.Conn, error) // opens the connection below all that; nil means net.Dialer's

	Login    func() string                         // the bot's login, asked for with the token; needed where Token gives one
	Token    func(context.Context) (string, error) // the bot's access token, asked for at each connect; nil or an empty token reads anonymously
	Channels []string                              // logins of the channels to begin with, with or without '#'; at least one, unless SetChannels named some

	// Refused is told a token that Twitch refused. Where it returns nil the token is asked for anew and tried after a delay; an error ends Run.
	// Nil means that there is no other token.
	Refused func(ctx context.Context, token string) error

	// Entered is told the ID of each channel before the first message from there is delivered, and again with each connection. Reading waits
	// for it. Nil means nobody is told.
	Entered func(login, roomID string)

	// Moderates is told whether the bot may moderate a channel: after Entered, with each connection, and whenever Twitch says so again. Of an
	// anonymous connection nothing is told. Reading waits for it. Nil means nobody is told.
	Moderates func(roomID string, yes bool)

	Logger *slog.Logger     // nil logs nothing
	Now    func() time.Time // nil means time.Now
	Clock  *clock.Chat      // learns the chat's time from the messages; nil means one that nobody else reads
	Timing Timing           // how long things may take

	sleep func(context.Context, time.Duration) error // nil means pause

	report
}

// Timing says how long the connection waits for what. A field that is zero has the default.
type Timing struct {
	Handshake  time.Duration // from dialling to Twitch's welcome; 10 s
	Write      time.Duration // for one line to be taken by the network; 10 s
	PingAfter  time.Duration // silence after which to ask whether the server is still there; 60 s
	PongWithin time.Duration // silence after asking that means it is not; 10 s
	Healthy    time.Duration // how long a connection must have lasted for the next one to start without extra delay; 20 s
	BackoffMin time.Duration // the first delay before connecting again; 500 ms
	BackoffMax time.Duration // the longest delay; 1 min
	QueueWait  time.Duration // how long reading waits for a consumer that takes nothing before messages are dropped; 1 s
}

func (t Timing) withDefaults() Timing {
	return Timing{
		Handshake:  cmp.Or(t.Handshake, 10*time.Second),
		Write:      cmp.Or(t.Write, 10*time.Second),
		PingAfter:  cmp.Or(t.PingAfter, time.Minute),
		PongWithin: cmp.Or(t.PongWithin, 10*time.Second),
		Healthy:    cmp.Or(t.Healthy, 20*time.Second),
		BackoffMin: cmp.Or(t.BackoffMin, 500*time.Millisecond),
		BackoffMax: cmp.Or(t.BackoffMax, time.Minute),
		QueueWait:  cmp.Or(t.QueueWait, time.Second),
	}
}

// Run connects, reads until ctx ends, and hands what it reads to the sink in the order in which Twitch sent it. Lost connections are made anew,
// with growing delays.
//
// It returns nil when ctx ended; ErrLogin where Twitch refuses login or token and there is no other; ErrChannel where a channel's name can't be
// one. By then every goroutine it started has ended.
func (i *IRC) Run(ctx context.Context, sink chat.Sink) error {
	if err := i.begin(i.Channels, i.now, i.pause, i.logger()); err != nil {
		return err
	}
	defer i.enter(Stopped)

	timing := i.Timing.withDefaults()
	lines := newQueue(timing.QueueWait)
	group, running := errgroup.WithContext(ctx)
	group.Go(func() error {
		i.consume(running, lines, sink)
		return nil
	})
	group.Go(func() error { return i.stayConnected(running, timing, lines) })

	if err := group.Wait(); ctx.Err() == nil {
		i.trouble(err)
		return err
	}
	return nil
}

// stayConnected makes one connection after the other until ctx ends or an error shows that trying again can't help.
func (i *IRC) stayConnected(ctx context.Context, timing Timing, lines *queue) error {
	pace := newPacer(joinBurst, joinPeriod)
	for failures := 0; ; failures++ {
		i.enter(Connecting)
		s := i.newSession(timing, pace, lines)
		err := s.run(ctx)
		if errors.Is(err, ErrLogin) {
			err = i.renew(ctx, s.token, err)
		}
		if ctx.Err() != nil || errors.Is(err, ErrLogin) {
			return err
		}
		if s.healthyAt(i.now()) {
			failures = 0
		}
		if err := i.delay(ctx, err, failures, timing); err != nil {
			return err
		}
	}
}

// renew tells that a token was refused. It returns what to do about the refusal: try again after errRefused, or end with the refusal.
func (i *IRC) renew(ctx context.Context, token string, refusal error) error {
	if token == "" || i.Refused == nil || i.Refused(ctx, token) != nil {
		return refusal
	}
	return errRefused
}

func (i *IRC) now() time.Time {
	if i.Now == nil {
		return time.Now()
	}
	return i.Now()
}

func (i *IRC) chatTime() *clock.Chat { return cmp.Or(i.Clock, clock.NewChat(i.now)) }

func (i *IRC) pause(ctx context.Context, d time.Duration) error {
	if i.sleep == nil {
		return pause(ctx, d)
	}
	return i.sleep(ctx, d)
}

func (i *IRC) logger() *slog.Logger { return loggerOr(i.Logger) }

func loggerOr(l *slog.Logger) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l
}
