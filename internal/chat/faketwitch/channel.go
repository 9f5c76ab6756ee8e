package faketwitch

import (
	"cmp"
	"strconv"
	"strings"
)

// firstID is the user ID of the first account. Real ones have up to ten digits.
const firstID = 1_000_001

// AddChannel opens a channel in which the bot is a moderator, and returns its ID. Opening it again changes nothing.
func (s *Server) AddChannel(login string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	owner := s.account(login)
	if s.channels[owner.login] == nil {
		s.channels[owner.login] = &channel{
			account:      *owner,
			botModerates: true,
			staff:        map[string]bool{owner.id: true},
			silenced:     make(map[string]banned),
			warned:       make(map[string]bool),
		}
	}
	return owner.id
}

// SetBotModerator makes the bot a moderator in the channel, or an ordinary chatter. An unknown channel changes nothing.
func (s *Server) SetBotModerator(channelLogin string, on bool) {
	s.mu.Lock()
	c := s.channels[channelLogin]
	if c != nil {
		c.botModerates = on
	}
	s.mu.Unlock()
	if c != nil && !on && c.id != s.botID {
		s.dismiss(c.account)
	}
}

// UserID returns the user ID of a login, and opens the account where there is none.
func (s *Server) UserID(login string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.account(login).id
}

// account returns the account of a login, and opens it where there is none. The caller holds mu, or is the only one to know s.
func (s *Server) account(login string) *account {
	login = strings.ToLower(login)
	if s.accounts[login] == nil {
		s.accounts[login] = &account{id: strconv.Itoa(firstID + s.lastID), login: login, displayName: login}
		s.lastID++
	}
	return s.accounts[login]
}

// author returns the account that a line is from, with the names that the line gives it.
func (s *Server) author(l Line) account {
	a := s.account(l.Login)
	a.displayName = cmp.Or(l.DisplayName, a.displayName)
	a.id = cmp.Or(l.UserID, a.id)
	return *a
}

// accountByID returns the account with this ID, or one of that ID without a name. The caller holds mu.
func (s *Server) accountByID(id string) account {
	for _, a := range s.accounts {
		if a.id == id {
			return *a
		}
	}
	return account{id: id}
}

// channelByID returns the channel with this ID, or nil. The caller holds mu.
func (s *Server) channelByID(id string) *channel {
	for _, c := range s.channels {
		if c.id == id {
			return c
		}
	}
	return nil
}

// isStaff reports whether badges are those of someone whom nobody may moderate.
func isStaff(badges string) bool {
	for badge := range strings.SplitSeq(badges, ",") {
		switch name, _, _ := strings.Cut(badge, "/"); name {
		case "broadcaster", "moderator", "lead_moderator":
			return true
		}
	}
	return false
}
