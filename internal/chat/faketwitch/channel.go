package faketwitch

import (
	"cmp"
	"hash/fnv"
	"strconv"
	"strings"
)

// firstID is the user ID of the first account. Real ones have up to ten digits.
const firstID = 1_000_001

// AddChannel creates a channel in which the bot is a moderator, and returns its ID. It changes
// nothing if the channel exists.
func (s *Server) AddChannel(login string) string {
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

// SetBotModerator makes the bot a moderator or an ordinary chatter in the channel. It ignores an
// unknown channel.
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

// SetModerator makes an account a moderator of the channel or an ordinary chatter, and tells those
// who read the channel's moderation. It ignores an unknown channel. For the bot, use
// SetBotModerator.
func (s *Server) SetModerator(channelLogin, login string, on bool) {
	s.mu.Lock()
	c, a := s.channels[channelLogin], *s.account(login)
	if c != nil {
		c.staff[a.id] = on
	}
	s.mu.Unlock()
	if c == nil {
		return
	}
	details := map[string]any{}
	a.describe("", details)
	action := "unmod"
	if on {
		action = "mod"
	}
	s.notify(s.moderationEvent(s.opts.Now(), c.account, c.account, action, details))
}

// Rename changes the login of an account, and of its channel if it has one. Its ID stays the same.
// Clients that have joined the channel receive nothing more by the old name, and aren't told why.
func (s *Server) Rename(login, to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.account(login)
	c := s.channels[a.login]
	delete(s.accounts, a.login)
	delete(s.channels, a.login)
	a.login, a.displayName = strings.ToLower(to), to
	s.accounts[a.login] = a
	if c != nil {
		c.account = *a
		s.channels[a.login] = c
	}
}

// RemoveAccount removes an account and its channel, as if Twitch had suspended it.
func (s *Server) RemoveAccount(login string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.accounts, login)
	delete(s.channels, login)
}

// UserID returns the user ID of a login. It creates the account if needed.
func (s *Server) UserID(login string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.account(login).id
}

// account returns the account of a login, and creates it if needed. The caller holds mu, or is the
// only one with access to s.
func (s *Server) account(login string) *account {
	login = strings.ToLower(login)
	if s.accounts[login] == nil {
		s.accounts[login] = &account{id: strconv.Itoa(firstID + s.lastID), login: login, displayName: login}
		s.lastID++
	}
	return s.accounts[login]
}

// author returns the account that sends a line, with the display name and ID from the line, if any.
func (s *Server) author(l Line) account {
	a := s.account(l.Login)
	a.displayName = cmp.Or(l.DisplayName, a.displayName)
	a.id = cmp.Or(l.UserID, a.id)
	return *a
}

// colors are those that Twitch gives to people who have not chosen one.
var colors = []string{
	"#FF0000", "#0000FF", "#008000", "#B22222", "#FF7F50", "#9ACD32", "#FF4500", "#2E8B57", "#DAA520", "#D2691E", "#5F9EA0", "#1E90FF", "#FF69B4",
	"#8A2BE2", "#00FF7F",
}

// color returns the color of the account's name, which depends on the login. A few have none.
func (a account) color() string {
	sum := fnv.New32a()
	sum.Write([]byte(a.login))
	if i := int(sum.Sum32() % uint32(len(colors)+1)); i < len(colors) {
		return colors[i]
	}
	return ""
}

// accountByID returns the account with this ID, or a nameless one with this ID if there is none.
// The caller holds mu.
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
