// Package eventsub reads Twitch's chat over EventSub's WebSocket and turns its events into messages
// and removals. A Conn subscribes through Helix, follows the server to another address, and passes
// what it reads to a sink.
//
// It knows nothing about IRC or how a token is stored.
package eventsub

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/api"
	"github.com/chatguard/chatguard/internal/chat/twitch/helix"
	"github.com/chatguard/chatguard/internal/clock"
	"github.com/chatguard/chatguard/internal/recent"
)

// defaultURL is the address of Twitch's EventSub.
const defaultURL = "wss://eventsub.wss.twitch.tv/ws"

// MaxChannels is how many channels one EventSub connection reads: Twitch accepts 300 subscriptions
// per socket, and each channel needs two. A third subscription, for notices, is made only if there
// is room for one in every channel.
const (
	MaxChannels       = 150
	maxNoticeChannels = 100
)

// Conn reads the chat of some channels over EventSub's WebSocket. It receives messages and, where
// the bot moderates, the actions of moderators. Set its fields before the first call of Run, and
// don't change them after that. Run may be called again after it has returned. Status and
// SetChannels may be called from any goroutine at any time.
//
// Its messages are the same as IRC's, with one exception: EventSub doesn't report first messages in
// a channel, so nobody is a FirstTimer.
type Conn struct {
	URL   string        // empty means Twitch's URL
	Helix *helix.Client // creates the subscriptions; required
	// UserID returns the ID of the token's user. It is called repeatedly; required. If the ID
	// changes, Conn connects again for the new user.
	UserID func() string

	// Channels are the logins of the initial channels, with or without '#'. At least one is
	// required unless SetChannels set some, and at most 150 are allowed.
	Channels []string

	// Vet returns why a channel must not be read after all, for people, or "". It is called before
	// Entered. Nil accepts every channel.
	Vet func(login, roomID string) (problem string)

	// Entered receives the ID of each channel before the first message from it is delivered, and
	// again with each connection. Nil means no callback.
	Entered func(login, roomID string)

	// Moderates receives whether the bot may moderate a channel. It is called after Entered, with
	// each connection, and on each change that Twitch reports. Two goroutines may call it at once.
	// Nil means no callback.
	Moderates func(roomID string, yes bool)

	// StaffChanged receives the ID of a user whom a channel has made a moderator, or who is no
	// longer one. It must not block. Nil means no callback.
	StaffChanged func(roomID, userID string)

	// ModesMayDiffer receives the ID of a channel when Twitch begins to report changes of its chat
	// modes, and after each change. told is false if Twitch no longer reports them. It must not
	// block. Nil means no callback.
	ModesMayDiffer func(roomID string, told bool)

	// HTTP opens the WebSocket. Nil means a separate client that follows no redirects.
	HTTP   *http.Client
	Logger *slog.Logger // nil logs nothing
	Clock  clock.Clock  // the wall clock, unless a test replaces it
	// ChatTime receives the timestamps of messages; nil means a private clock.
	ChatTime *clock.Chat
	// Timing sets how long things may take. PongWithin is how late a keepalive may be; PingAfter is
	// unused.
	Timing twitch.Timing

	report twitch.Report
	seen   recent.Map[string, struct{}] // IDs of frames; used only by the consumer
	// ids are the known IDs of channels, by login. Only the session that maintains the
	// subscriptions uses them.
	ids   map[string]string
	mu    sync.Mutex
	rooms map[string]string // logins of the read channels by ID; guarded by mu
}

// Status returns the current status of the connection.
func (e *Conn) Status() twitch.Status { return e.report.Status() }

// queue carries frames from the readers to the consumer.
type queue = twitch.Queue[arrival]

// arrival is a frame and its arrival time.
type arrival struct {
	at       time.Time
	byTwitch time.Time // at, converted to Twitch's clock
	frame    frame
}

// SetChannels replaces the channels to read. Before Run, it sets the initial channels and overrides
// Channels. It returns ErrChannel and changes nothing if a name is invalid, or if there are no
// logins or too many.
func (e *Conn) SetChannels(logins []string) error {
	if err := checkChannels(logins); err != nil {
		return err
	}
	return e.report.SetChannels(logins)
}

// checkChannels refuses more channels than one socket supports.
func checkChannels(names []string) error {
	if logins, err := twitch.Logins(names); err == nil && len(logins) > MaxChannels {
		return fmt.Errorf("%w: %d are named, but EventSub supports %d; name fewer, or read them over IRC", twitch.ErrChannel, len(logins), MaxChannels)
	}
	return nil
}

// Run connects, reads until ctx ends, and passes messages and removals to the sink. It replaces
// lost connections, with growing delays. If the server asks it to move, it follows without a gap.
// While Helix refuses the token, the Status says so and Run keeps trying.
//
// It returns nil if ctx ended. It returns ErrChannel if a channel's name is invalid, or if there
// are no channels or too many. Every goroutine that Run started has ended when Run returns.
func (e *Conn) Run(ctx context.Context, sink chat.Sink) error {
	if err := checkChannels(e.Channels); err != nil {
		return err
	}
	if err := e.report.Begin(e.Channels, e.Clock, e.Logger); err != nil {
		return err
	}
	e.seen.Span = maxEventAge
	client := cmp.Or(e.HTTP, api.NewClient())
	defer client.CloseIdleConnections()

	timing := e.Timing.WithDefaults()
	frames := twitch.NewQueue[arrival](timing.QueueWait)
	consume := func(ctx context.Context) { e.consume(ctx, frames, sink) }
	connect := func(ctx context.Context) (time.Time, error) {
		s := newSession(e, client, timing, frames)
		err := s.run(ctx)
		return s.began, err
	}
	return twitch.StayConnected(ctx, &e.report, timing, consume, connect, nil)
}

func (e *Conn) chatTime() *clock.Chat { return cmp.Or(e.ChatTime, clock.NewChat(e.Clock.Now)) }

func (e *Conn) reportModes(roomID string, told bool) {
	if e.ModesMayDiffer != nil {
		e.ModesMayDiffer(roomID, told)
	}
}

func (e *Conn) reportModerates(roomID string, yes bool) {
	if e.Moderates != nil {
		e.Moderates(roomID, yes)
	}
}
