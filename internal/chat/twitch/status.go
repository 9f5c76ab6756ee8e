package twitch

import (
	"maps"
	"slices"
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
	Login  string
	RoomID string // empty until the server has told it; kept over reconnects
	Joined bool   // the server has shown on this connection that we are in
}

// Status returns how the connection is now.
func (i *IRC) Status() Status {
	i.mu.Lock()
	defer i.mu.Unlock()
	s := i.status
	if s.State == "" {
		s.State = Stopped
	}
	s.Channels = slices.Clone(s.Channels)
	s.Skipped = maps.Clone(s.Skipped)
	return s
}

// begin makes the status that of a connection about to be made.
func (i *IRC) begin(channels []string) {
	fresh := Status{State: Connecting, Since: i.now(), Skipped: make(map[SkipReason]uint64)}
	for _, login := range channels {
		fresh.Channels = append(fresh.Channels, Channel{Login: login})
	}
	i.note(func(s *Status) { *s = fresh })
}

// enter changes the state. Which channels we are in has to be shown anew in each.
func (i *IRC) enter(state State) {
	now := i.now()
	i.note(func(s *Status) {
		s.State, s.Since = state, now
		for n := range s.Channels {
			s.Channels[n].Joined = false
		}
	})
}

// trouble notes what went wrong, for the log and for the status.
func (i *IRC) trouble(err error) {
	detail, now := oneLine(err.Error()), i.now()
	i.logger().Warn("twitch chat", "trouble", detail)
	i.note(func(s *Status) { s.Detail, s.DetailAt = detail, now })
}

// learnRoom notes that we are in a channel, and its room ID.
func (i *IRC) learnRoom(login, roomID string) {
	i.note(func(s *Status) {
		for n := range s.Channels {
			if c := &s.Channels[n]; c.Login == login {
				c.RoomID, c.Joined = roomID, true
			}
		}
	})
}

// note changes the status. What is usual calls it a few times a batch, not for each line.
func (i *IRC) note(change func(*Status)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change(&i.status)
}
