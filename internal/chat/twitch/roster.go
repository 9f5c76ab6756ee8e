package twitch

import (
	"fmt"
	"slices"
	"strings"
)

// roster is the channels to read, and how we stand with each. The report's mu guards it.
type roster struct {
	rooms   map[string]*room // by login
	logins  []string         // of those that are wanted, in the order of the configuration
	changed chan struct{}    // closed, and made anew, when other channels are wanted
}

// room is a channel that is read, or that is to be left.
type room struct {
	Channel
	wanted bool
}

// set makes these the channels that are wanted. What is known of those that stay is kept.
func (r *roster) set(logins []string) {
	if r.rooms == nil {
		r.rooms, r.changed = make(map[string]*room), make(chan struct{})
	}
	for _, room := range r.rooms {
		room.wanted = false
	}
	for _, login := range logins {
		if r.rooms[login] == nil {
			r.rooms[login] = &room{Channel: Channel{Login: login}}
		}
		r.rooms[login].wanted = true
	}
	r.logins = logins
	close(r.changed)
	r.changed = make(chan struct{})
}

// channels returns those that are wanted.
func (r *roster) channels() (all []Channel) {
	for _, login := range r.logins {
		all = append(all, r.rooms[login].Channel)
	}
	return all
}

// takeLeft forgets the channels that aren't wanted any more, and returns them.
func (r *roster) takeLeft() (logins []string) {
	for login, room := range r.rooms {
		if !room.wanted {
			logins = append(logins, login)
			delete(r.rooms, login)
		}
	}
	return logins
}

// SetChannels makes these the channels to read, in place of those that were: the ones that are new are joined, no faster than Twitch takes it, and
// the others left. Before Run it sets what Run begins with, whatever Channels says. The error is ErrChannel for a name that can't be a
// channel's, or where there is none; nothing has changed then.
func (r *report) SetChannels(logins []string) error {
	logins, err := channelLogins(logins)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.roster.set(logins)
	return nil
}

// wanted returns the channels that are wanted, those to be left, which it forgets, and what is closed when others are wanted.
func (r *report) wanted() (channels []Channel, left []string, changed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	left = r.roster.takeLeft()
	return r.roster.channels(), left, r.roster.changed
}

// channel returns how we stand with a channel; false for one that isn't wanted.
func (r *report) channel(login string) (Channel, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if room := r.roster.rooms[login]; room != nil && room.wanted {
		return room.Channel, true
	}
	return Channel{}, false
}

// roomID returns the ID of a channel; empty where it isn't known.
func (r *report) roomID(login string) string {
	channel, _ := r.channel(login)
	return channel.RoomID
}

// learnRoom notes that we are in a channel, and its room ID.
func (r *report) learnRoom(login, roomID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if room := r.roster.rooms[login]; room != nil {
		room.RoomID, room.Joined, room.Problem = roomID, true, ""
	}
}

// shutOut notes that we aren't in a channel, and why. Joining is tried again every now and then, and the same problem told once only.
func (r *report) shutOut(login, problem string) {
	problem = oneLine(problem)
	r.mu.Lock()
	room := r.roster.rooms[login]
	fresh := room != nil && room.Problem != problem
	if fresh {
		room.Joined, room.Problem = false, problem
	}
	r.mu.Unlock()
	if fresh {
		r.trouble(fmt.Errorf("channel #%s: %s", login, problem))
	}
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
