package faketwitch

import (
	"strings"
	"time"
)

// channel is a Twitch channel: its owner, and the permissions and penalties of its users.
type channel struct {
	account
	botModerates bool
	staff        map[string]bool        // user IDs of its broadcaster and moderators
	silenced     map[string]restriction // by user ID
	warned       map[string]bool        // user IDs with an unacknowledged warning
	modes        chatModes
	sanctions    recentTimes // timeouts, bans and unbans
	warnings     recentTimes
	liveSince    time.Time // zero if it isn't live
}

// forever is how long a ban lasts.
const forever = 100 * 365 * 24 * time.Hour

// restriction says until when a user can't write. The zero value means that the user can write.
type restriction struct {
	until     time.Time
	permanent bool
}

func (b restriction) isInForce(now time.Time) bool { return b.until.After(now) }

// moderates reports whether an account may moderate in a channel. Besides the bot, these are the
// broadcaster, the accounts of SetModerator, and those who have written with a badge.
func (s *state) moderates(a account, room *channel) bool {
	if a.id == s.botID && a.id != room.id {
		return room.botModerates
	}
	return room.staff[a.id]
}

// AddChannel creates a channel in which the bot is a moderator, and returns its ID. It changes
// nothing if the channel exists.
func (s *state) AddChannel(login string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	owner := s.account(login)
	if s.channels[owner.login] == nil {
		s.channels[owner.login] = &channel{
			account:      *owner,
			botModerates: true,
			staff:        map[string]bool{owner.id: true},
			silenced:     make(map[string]restriction),
			warned:       make(map[string]bool),
		}
	}
	return owner.id
}

// channelByID returns the channel with this ID, or nil. The caller holds mu.
func (s *state) channelByID(id string) *channel {
	for _, c := range s.channels {
		if c.id == id {
			return c
		}
	}
	return nil
}

// isStaff reports whether badges belong to a user whom nobody may moderate.
func isStaff(badges string) bool {
	for badge := range strings.SplitSeq(badges, ",") {
		switch name, _, _ := strings.Cut(badge, "/"); name {
		case "broadcaster", "moderator", "lead_moderator":
			return true
		}
	}
	return false
}

// SetLive makes a channel live since a time; the zero time ends its stream. It ignores an unknown
// channel.
func (s *state) SetLive(channelLogin string, since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.channels[channelLogin]; c != nil {
		c.liveSince = since
	}
}

// Acknowledge acknowledges a user's warning in a channel, which the user needs to do before writing
// there. It changes nothing if there is no warning.
func (s *state) Acknowledge(channelLogin, login string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if room := s.channels[channelLogin]; room != nil {
		delete(room.warned, s.account(login).id)
	}
}
