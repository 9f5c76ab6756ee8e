package faketwitch

import (
	"cmp"
	"hash/fnv"
	"strconv"
	"strings"
)

// account is a Twitch user.
type account struct{ id, login, displayName string }

// firstID is the user ID of the first account. Real ones have up to ten digits.
const firstID = 1_000_001

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

// describe adds an account's ID, login and name to body. part is the prefix of their keys, for
// example "broadcaster".
func (a account) describe(part string, body map[string]any) {
	if part != "" {
		part += "_"
	}
	body[part+"user_id"], body[part+"user_login"], body[part+"user_name"] = a.id, a.login, a.displayName
}

// UserID returns the user ID of a login. It creates the account if needed.
func (s *state) UserID(login string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.account(login).id
}

// account returns the account of a login, and creates it if needed. The caller holds mu, or is the
// only one with access to s.
func (s *state) account(login string) *account {
	login = strings.ToLower(login)
	if s.accounts[login] == nil {
		s.accounts[login] = &account{id: strconv.Itoa(firstID + s.lastID), login: login, displayName: login}
		s.lastID++
	}
	return s.accounts[login]
}

// author returns the account that sends a line, with the display name and ID from the line, if any.
func (s *state) author(l Line) account {
	a := s.account(l.Login)
	a.displayName = cmp.Or(l.DisplayName, a.displayName)
	a.id = cmp.Or(l.UserID, a.id)
	return *a
}

// accountByID returns the account with this ID, or a nameless one with this ID if there is none.
// The caller holds mu.
func (s *state) accountByID(id string) account {
	for _, a := range s.accounts {
		if a.id == id {
			return *a
		}
	}
	return account{id: id}
}

// Rename changes the login of an account, and of its channel if it has one. Its ID stays the same.
// Clients that have joined the channel receive nothing more by the old name, and aren't told why.
func (s *state) Rename(login, to string) {
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
func (s *state) RemoveAccount(login string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.accounts, login)
	delete(s.channels, login)
}
