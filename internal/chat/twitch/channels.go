package twitch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/chatguard/chatguard/internal/hostile"
)

// channelSet is the channels to read and their states. The report's mu guards it.
type channelSet struct {
	byLogin map[string]*channelState // by login
	logins  []string                 // wanted channels, in configuration order
	// changed is closed and replaced when the wanted channels change.
	changed chan struct{}
}

// channelState is the state of a channel that is read or that is to be left.
type channelState struct {
	Channel
	wanted bool
}

// set replaces the wanted channels. It keeps the state of channels that stay wanted.
func (s *channelSet) set(logins []string) {
	if s.byLogin == nil {
		s.byLogin, s.changed = make(map[string]*channelState), make(chan struct{})
	}
	for _, c := range s.byLogin {
		c.wanted = false
	}
	for _, login := range logins {
		if s.byLogin[login] == nil {
			s.byLogin[login] = &channelState{Channel: Channel{Login: login}}
		}
		s.byLogin[login].wanted = true
	}
	s.logins = logins
	close(s.changed)
	s.changed = make(chan struct{})
}

// channels returns the wanted channels.
func (s *channelSet) channels() (all []Channel) {
	for _, login := range s.logins {
		all = append(all, s.byLogin[login].Channel)
	}
	return all
}

// takeUnwanted removes and returns the channels that are no longer wanted.
func (s *channelSet) takeUnwanted() (logins []string) {
	for login, c := range s.byLogin {
		if !c.wanted {
			logins = append(logins, login)
			delete(s.byLogin, login)
		}
	}
	return logins
}

// SetChannels replaces the channels to read. New channels are joined no faster than Twitch accepts.
// Channels that are not in logins are left. Before Begin, it sets the initial channels, and Begin
// then ignores its names. It returns ErrChannel and changes nothing if a name is invalid or logins
// is empty.
func (r *Report) SetChannels(logins []string) error {
	logins, err := Logins(logins)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.channels.set(logins)
	return nil
}

// Wanted returns the wanted channels, the channels to leave, and a Go channel that is closed when
// the wanted channels change. Each channel to leave is returned only once.
func (r *Report) Wanted() (channels []Channel, left []string, changed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	left = r.channels.takeUnwanted()
	return r.channels.channels(), left, r.channels.changed
}

// Channel returns the state of a channel, or false if the channel isn't wanted.
func (r *Report) Channel(login string) (Channel, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if room := r.channels.byLogin[login]; room != nil && room.wanted {
		return room.Channel, true
	}
	return Channel{}, false
}

// RoomID returns the ID of a channel, or "" if it isn't known.
func (r *Report) RoomID(login string) string {
	channel, _ := r.Channel(login)
	return channel.RoomID
}

// LearnRoom records that we have joined a channel, and its room ID.
func (r *Report) LearnRoom(login, roomID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if room := r.channels.byLogin[login]; room != nil {
		room.RoomID, room.Joined, room.ShutOut, room.Refusal, room.Problem = roomID, true, false, "", ""
	}
}

// ShutOut records that we haven't joined a channel, and why. Another channel may have the name by
// now, so ShutOut forgets the room ID. The reader keeps trying to join. ShutOut reports the same
// problem only once.
func (r *Report) ShutOut(login string, why Refusal, problem string) {
	problem = hostile.Detail(problem)
	r.mu.Lock()
	room := r.channels.byLogin[login]
	fresh := room != nil && (!room.ShutOut || room.Problem != problem)
	if fresh {
		room.Joined, room.RoomID, room.ShutOut, room.Refusal, room.Problem = false, "", true, why, problem
	}
	r.mu.Unlock()
	if fresh {
		r.Trouble(fmt.Errorf("channel #%s: %s", login, problem))
	}
}

// NoteProblem records a problem in a channel that is read, and reports it once. An empty problem
// means none.
func (r *Report) NoteProblem(login, problem string) {
	r.ReplaceProblem(login, problem, func(string) bool { return true })
}

// ReplaceProblem is like NoteProblem, but does nothing if replaces returns false for the present
// problem, which may be empty.
func (r *Report) ReplaceProblem(login, problem string, replaces func(present string) bool) {
	problem = hostile.Detail(problem)
	r.mu.Lock()
	room := r.channels.byLogin[login]
	fresh := room != nil && room.Joined && room.Problem != problem && replaces(room.Problem)
	if fresh {
		room.Problem = problem
	}
	r.mu.Unlock()
	if fresh && problem != "" {
		r.Trouble(fmt.Errorf("channel #%s: %s", login, problem))
	}
}

// Logins converts names to the form that Twitch uses, without duplicates. It refuses an invalid
// channel name, because the name would reach the server as part of a command.
func Logins(names []string) ([]string, error) {
	var logins []string
	for _, name := range names {
		login := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(name), "#"))
		if !IsLogin(login) {
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

// IsLogin reports whether s has the form of a login: up to 25 lower-case letters, digits and
// underscores.
func IsLogin(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= 25
}
