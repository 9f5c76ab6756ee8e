package twitch

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/chatguard/chatguard/internal/chat"
)

// The addresses of Twitch's chat.
const (
	tlsAddress   = "irc.chat.twitch.tv:6697"
	plainAddress = "irc.chat.twitch.tv:6667"
)

// IRC reads the chat of some channels. Fill its fields, then call Run once; the fields are not to be changed after that.
// Status may be called from any goroutine at any time.
type IRC struct {
	Address string      // host:port; empty means Twitch's, for TLS or not
	TLS     *tls.Config // nil speaks plain TCP, which only a server on this machine should be trusted with; &tls.Config{} is right for Twitch

	Login    string                                // the bot's login; needed where Token gives a token
	Token    func(context.Context) (string, error) // the bot's access token, asked for at each connect; nil or an empty token reads anonymously
	Channels []string                              // logins of the channels to read, with or without '#'; at least one

	// Entered is told the ID of each channel before the first message from there is delivered, and again with each connection. Reading waits
	// for it. Nil means nobody is told.
	Entered func(login, roomID string)

	Logger *slog.Logger     // nil logs nothing
	Now    func() time.Time // the clock that corrects the times of messages; nil means time.Now
	Timing Timing           // how long things may take

	sleep func(context.Context, time.Duration) error // nil means pause

	mu     sync.Mutex
	status Status // guarded by mu
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
// It returns nil when ctx ended; ErrLogin where Twitch refuses login or token; ErrChannel where a channel's name can't be one. By then
// every goroutine it started has ended.
func (i *IRC) Run(ctx context.Context, sink chat.Sink) error {
	channels, err := channelLogins(i.Channels)
	if err != nil {
		return err
	}
	i.begin(channels)
	defer i.enter(Stopped)

	timing := i.Timing.withDefaults()
	lines := newQueue(timing.QueueWait)
	group, running := errgroup.WithContext(ctx)
	group.Go(func() error {
		i.consume(running, lines, sink)
		return nil
	})
	group.Go(func() error { return i.stayConnected(running, timing, channels, lines) })

	if err := group.Wait(); ctx.Err() == nil {
		i.trouble(err)
		return err
	}
	return nil
}

// stayConnected makes one connection after the other until ctx ends or an error shows that trying again can't help.
func (i *IRC) stayConnected(ctx context.Context, timing Timing, channels []string, lines *queue) error {
	pace := newPacer(joinBurst, joinPeriod)
	for failures := 0; ; failures++ {
		i.enter(Connecting)
		s := &session{irc: i, timing: timing, channels: channels, pace: pace, lines: lines, entered: make(map[string]bool)}
		err := s.run(ctx)
		if ctx.Err() != nil || errors.Is(err, ErrLogin) {
			return err
		}
		if s.healthyAt(i.now()) {
			failures = 0
		}
		wait := backoff(failures, timing.BackoffMin, timing.BackoffMax)
		i.enter(Waiting)
		i.trouble(fmt.Errorf("%w; connecting again in %s", err, wait.Round(100*time.Millisecond)))
		i.note(func(s *Status) { s.Reconnects++ })
		if err := i.pause(ctx, wait); err != nil {
			return err
		}
	}
}

func (i *IRC) now() time.Time {
	if i.Now == nil {
		return time.Now()
	}
	return i.Now()
}

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

// channelLogins brings names to the form that Twitch uses, each once, and refuses what can't be a channel's name: it would otherwise
// reach the server as part of a command.
func channelLogins(names []string) ([]string, error) {
	var logins []string
	for _, name := range names {
		login := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(name), "#"))
		if !isLogin(login) {
			return nil, fmt.Errorf("%w: %q", ErrChannel, name)
		}
		if !slices.Contains(logins, login) {
			logins = append(logins, login)
		}
	}
	if len(logins) == 0 {
		return nil, fmt.Errorf("%w: none is named", ErrChannel)
	}
	return logins, nil
}

// isLogin reports whether s has the form of a login: up to 25 lower-case letters, digits and underscores.
func isLogin(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= 25
}
