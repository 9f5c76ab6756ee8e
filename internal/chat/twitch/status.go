package twitch

import (
	"cmp"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/clock"
	"github.com/chatguard/chatguard/internal/hostile"
)

// State is the state of a connection.
type State string

// The states of a connection.
const (
	Connecting State = "connecting" // dialing or waiting for the welcome
	Connected  State = "connected"  // reading
	Waiting    State = "waiting"    // before the next attempt
	Stopped    State = "stopped"    // not yet started, or ended
)

// Status describes a connection. It is a copy that never changes.
type Status struct {
	State      State
	Since      time.Time             // start of the current state
	LostAt     time.Time             // end of the last connection that was Connected; zero if there was none
	Detail     string                // last problem as one line for people; may be empty
	DetailAt   time.Time             // time of Detail
	Failure    error                 // why the last connection ended or failed; nil once connected
	Channels   []Channel             // channels to read, in configuration order
	Lines      uint64                // all lines read so far
	Messages   uint64                // delivered so far
	Skipped    map[SkipReason]uint64 // lines that could not be read, by reason
	Dropped    uint64                // chat lines lost because the consumer was stuck
	Reconnects uint64                // connections lost or failed
}

// Channel is the state of one channel.
type Channel struct {
	Login  string
	RoomID string // empty until known; kept on reconnect, until we are shut out
	Joined bool   // the server has confirmed the join on this connection
	// ShutOut is true if we haven't been let in, and Problem says why. It stays true until we are.
	ShutOut bool
	Refusal Refusal // why we are shut out; otherwise empty
	// Problem is one line for people. It says why we haven't joined, or what other problem is
	// known.
	Problem string
	// Now is the channel's present login on Twitch if that isn't Login; otherwise it is empty.
	Now string
}

// Refusal says why we are shut out of a channel.
type Refusal string

// The kinds of refusals.
const (
	NoChannel    Refusal = "no channel"    // Twitch has none of this name, or has suspended it
	Banned       Refusal = "banned"        // the channel has banned the bot
	NotAllowed   Refusal = "not allowed"   // a ban, or a scope that the token lacks
	OtherChannel Refusal = "other channel" // another account has the name by now
	NotAnswered  Refusal = "not answered"  // Twitch gives no reason
	OtherRefusal Refusal = "other"         // the problem says which
)

// Report is the status of a connection and of its channels. Each connection to chat has its own.
type Report struct {
	clock clock.Clock // set by Begin, as is Log
	Log   *slog.Logger

	mu       sync.Mutex
	status   Status     // guarded by mu; its Channels come from channels
	channels channelSet // guarded by mu
}

// Status returns the current status of the connection.
func (r *Report) Status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.status
	s.State = cmp.Or(s.State, Stopped)
	s.Channels = r.channels.channels()
	s.Skipped = maps.Clone(s.Skipped)
	return s
}

// Begin enters Connecting for a call of Run, and keeps the counts. names are the channels to read,
// unless SetChannels or an earlier Begin has set others. The error is ErrChannel.
func (r *Report) Begin(names []string, c clock.Clock, log *slog.Logger) error {
	r.clock, r.Log = c, LoggerOr(log)
	channels, err := Logins(names)
	now := r.clock.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.channels.byLogin == nil {
		if err != nil {
			return err
		}
		r.channels.set(channels)
	}
	r.status.State, r.status.Since = Connecting, now
	if r.status.Skipped == nil { // the first call
		r.status.Skipped = make(map[SkipReason]uint64)
	}
	return nil
}

// Enter changes the state and marks all channels as not joined.
func (r *Report) Enter(state State) {
	now := r.clock.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.status.State == Connected && state != Connected {
		r.status.LostAt = now
	}
	if state == Connected {
		r.status.Failure = nil
	}
	r.status.State, r.status.Since = state, now
	for _, room := range r.channels.byLogin {
		room.Joined = false
	}
}

// Trouble records an error in the log and in the status.
func (r *Report) Trouble(err error) {
	detail, now := hostile.Detail(err.Error()), r.clock.Now()
	r.Log.Warn("twitch chat", "trouble", detail)
	r.Note(func(s *Status) { s.Detail, s.DetailAt = detail, now })
}

// Note changes the status. It takes a lock, so callers use it a few times per batch, not once per
// line.
func (r *Report) Note(change func(*Status)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.status)
}

// LoggerOr returns l, or a logger that discards everything if l is nil.
func LoggerOr(l *slog.Logger) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l
}
