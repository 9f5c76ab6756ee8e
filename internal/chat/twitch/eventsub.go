package twitch

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/clock"
)

// eventSubURL is where Twitch's EventSub listens.
const eventSubURL = "wss://eventsub.wss.twitch.tv/ws"

// MaxEventChannels is how many channels one EventSub reads: Twitch takes 300 subscriptions a socket, and each channel needs two.
const MaxEventChannels = 150

// EventSub reads the chat of some channels over EventSub's WebSocket: it is told of messages and, where the bot moderates, of what the moderators
// do. Fill its fields, then call Run, again too once it has returned; the fields are not to be changed after that. Status and SetChannels may be called from any goroutine
// at any time.
//
// Its messages are those that IRC reads, but for one thing: EventSub doesn't tell who writes for the first time in a channel, so nobody is a
// FirstTimer.
type EventSub struct {
	URL    string        // empty means Twitch's
	Helix  *Helix        // makes the subscriptions; required
	UserID func() string // of the token's user, asked for again and again; required. Another one than before gets a connection of their own

	Channels []string // logins of the channels to begin with, with or without '#'; at least one, unless SetChannels named some, and at most 150

	// Entered is told the ID of each channel before the first message from there is delivered, and again with each connection. Nil means nobody is
	// told.
	Entered func(login, roomID string)

	// Moderates is told whether the bot may moderate a channel: after Entered, with each connection, and when that changes, as far as Twitch tells.
	// It may be called by two goroutines at once. Nil means nobody is told.
	Moderates func(roomID string, yes bool)

	HTTP   *http.Client     // opens the WebSocket; nil means one of its own, which follows no redirects
	Logger *slog.Logger     // nil logs nothing
	Now    func() time.Time // nil means time.Now
	Clock  *clock.Chat      // learns the chat's time from the messages; nil means one that nobody else reads
	Timing Timing           // how long things may take; PongWithin is how late a keepalive may be, and PingAfter means nothing here

	sleep func(context.Context, time.Duration) error // nil means pause

	report
	seen  seen              // frames of late; the consumer's alone
	ids   map[string]string // of the channels, by login, as far as they are known; only the session's that looks after the subscriptions
	rooms map[string]string // logins by ID of the channels that are read; guarded by the report's mu
}

// eventQueue hands frames from the readers to the consumer.
type eventQueue = queueOf[arrival]

// arrival is a frame and when it arrived.
type arrival struct {
	at       time.Time
	byTwitch time.Time // the same by Twitch's clock
	frame    eventFrame
}

// SetChannels makes these the channels to read, in place of those that were. Before Run it sets what Run begins with, whatever Channels says. The
// error is ErrChannel for a name that can't be a channel's, or where there is none, or too many; nothing has changed then.
func (e *EventSub) SetChannels(logins []string) error {
	if err := fitEventSub(logins); err != nil {
		return err
	}
	return e.report.SetChannels(logins)
}

// fitEventSub refuses more channels than one socket carries.
func fitEventSub(names []string) error {
	if logins, err := channelLogins(names); err == nil && len(logins) > MaxEventChannels {
		return fmt.Errorf("%w: %d are named, but EventSub carries %d; name fewer, or read them over IRC", ErrChannel, len(logins), MaxEventChannels)
	}
	return nil
}

// Run connects, reads until ctx ends, and hands what it reads to the sink. Lost connections are made anew, with growing delays; a server that asks
// to move on is followed without a gap. While Helix refuses the token, the Status says so, and it is tried again and again.
//
// It returns nil when ctx ended; ErrChannel where a channel's name can't be one, or there are too many. By then every goroutine it started has
// ended.
func (e *EventSub) Run(ctx context.Context, sink chat.Sink) error {
	if err := fitEventSub(e.Channels); err != nil {
		return err
	}
	if err := e.begin(e.Channels, e.now, e.pause, loggerOr(e.Logger)); err != nil {
		return err
	}
	defer e.enter(Stopped)
	client := cmp.Or(e.HTTP, newClient())
	defer client.CloseIdleConnections()

	timing := e.Timing.withDefaults()
	frames := newQueueOf[arrival](timing.QueueWait)
	group, running := errgroup.WithContext(ctx)
	group.Go(func() error {
		e.consume(running, frames, sink)
		return nil
	})
	group.Go(func() error { return e.stayConnected(running, client, timing, frames) })

	if err := group.Wait(); ctx.Err() == nil {
		e.trouble(err)
		return err
	}
	return nil
}

// stayConnected makes one session after the other until ctx ends.
func (e *EventSub) stayConnected(ctx context.Context, client *http.Client, timing Timing, frames *eventQueue) error {
	for failures := 0; ; failures++ {
		e.enter(Connecting)
		s := newEventSession(e, client, timing, frames)
		err := s.run(ctx)
		if ctx.Err() != nil {
			return err
		}
		if s.healthyAt(e.now()) {
			failures = 0
		}
		if err := e.delay(ctx, err, failures, timing); err != nil {
			return err
		}
	}
}

func (e *EventSub) now() time.Time {
	if e.Now == nil {
		return time.Now()
	}
	return e.Now()
}

func (e *EventSub) chatTime() *clock.Chat { return cmp.Or(e.Clock, clock.NewChat(e.now)) }

func (e *EventSub) pause(ctx context.Context, d time.Duration) error {
	if e.sleep == nil {
		return pause(ctx, d)
	}
	return e.sleep(ctx, d)
}

func (e *EventSub) tellModerates(roomID string, yes bool) {
	if e.Moderates != nil {
		e.Moderates(roomID, yes)
	}
}
