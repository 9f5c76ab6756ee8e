package twitch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"
)

// State is what the connection is doing.
type State string

// The states.
const (
	Connecting State = "connecting" // dialling, or waiting for the welcome
	Connected  State = "connected"  // reading
	Waiting    State = "waiting"    // before the next attempt
	Stopped    State = "stopped"    // not yet begun, or ended
)

// Status is how the connection is. It is a copy: nothing changes it any more.
type Status struct {
	State      State
	Since      time.Time             // when it came into this state
	Detail     string                // one line for people on the last trouble; empty where there was none
	DetailAt   time.Time             // when that was
	Channels   []Channel             // all that are to be read, in the order of the configuration
	Lines      uint64                // read so far, of every kind
	Messages   uint64                // delivered so far
	Skipped    map[SkipReason]uint64 // lines that could not be read, by reason
	Dropped    uint64                // chat lines lost because the consumer was stuck
	Reconnects uint64                // how often a connection was lost or could not be made
}

// Channel is one channel as the connection knows it.
type Channel struct {
	Login   string
	RoomID  string // empty until the server has told it; kept over reconnects
	Joined  bool   // the server has shown on this connection that we are in
	Problem string // why we aren't in, or what else isn't as it should be, as far as that is known: one line for people
}

// report is what a connection tells of itself, and how it stands with its channels. The connections to chat have it in common.
type report struct {
	clock func() time.Time // set by begin, as the next two
	wait  func(context.Context, time.Duration) error
	log   *slog.Logger

	mu     sync.Mutex
	status Status // guarded by mu, but for Channels, which are the roster's
	roster roster // guarded by mu
}

// Status returns how the connection is now.
func (r *report) Status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.status
	if s.State == "" {
		s.State = Stopped
	}
	s.Channels = r.roster.channels()
	s.Skipped = maps.Clone(s.Skipped)
	return s
}

// begin makes the status that of a connection about to be made, to these channels unless others were set. The error is ErrChannel.
func (r *report) begin(names []string, clock func() time.Time, wait func(context.Context, time.Duration) error, log *slog.Logger) error {
	r.clock, r.wait, r.log = clock, wait, log
	channels, err := channelLogins(names)
	now := r.clock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.roster.rooms == nil {
		if err != nil {
			return err
		}
		r.roster.set(channels)
	}
	r.status.State, r.status.Since = Connecting, now
	if r.status.Skipped == nil { // it is the first time
		r.status.Skipped = make(map[SkipReason]uint64)
	}
	return nil
}

// enter changes the state. Which channels we are in has to be shown anew in each.
func (r *report) enter(state State) {
	now := r.clock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status.State, r.status.Since = state, now
	for _, room := range r.roster.rooms {
		room.Joined = false
	}
}

// trouble notes what went wrong, for the log and for the status.
func (r *report) trouble(err error) {
	detail, now := oneLine(err.Error()), r.clock()
	r.log.Warn("twitch chat", "trouble", detail)
	r.note(func(s *Status) { s.Detail, s.DetailAt = detail, now })
}

// delay waits before the next connection. A server that asks to reconnect is obeyed at once, unless it asks again and again.
func (r *report) delay(ctx context.Context, lost error, failures int, timing Timing) error {
	r.enter(Waiting)
	r.note(func(s *Status) { s.Reconnects++ }) // whoever sees this knows that we are in no channel
	if failures == 0 && errors.Is(lost, errReconnect) {
		r.trouble(fmt.Errorf("%w; connecting again at once", lost))
		return nil
	}
	wait := backoff(failures, timing.BackoffMin, timing.BackoffMax)
	r.trouble(fmt.Errorf("%w; connecting again in %s", lost, wait.Round(100*time.Millisecond)))
	return r.wait(ctx, wait)
}

// note changes the status. What is usual calls it a few times a batch, not for each line.
func (r *report) note(change func(*Status)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.status)
}
