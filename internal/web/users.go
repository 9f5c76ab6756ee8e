package web

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// mostFound is how many users a search finds at most.
const mostFound = 20

// foundUsers is what a search for users is answered with.
type foundUsers struct {
	Users []journal.Person `json:"users"`
}

// findUsers is GET /users?channel=&q=. Without a channel it looks in the first one; without q it finds those who spoke last.
func (s *Server) findUsers(w http.ResponseWriter, r *http.Request, who caller) error {
	q := queryOf(r)
	channel, text := q.text("channel"), strings.TrimPrefix(strings.TrimSpace(q.text("q")), "@")
	if q.err != nil {
		return q.err
	}
	if all := s.opts.Channels(); channel == "" && len(all) > 0 {
		channel = all[0].ID
	}
	found := foundUsers{[]journal.Person{}} // an empty list, never null
	named, ok, err := s.userNamed(r.Context(), channel, text)
	if err != nil {
		return errUnreadable("Users can't be looked for now", err)
	}
	if ok {
		found.Users = append(found.Users, named)
	}
	people, err := readLong(r.Context(), s.reads, who, readWait, func() ([]journal.Person, error) {
		people, err := s.opts.Store.FindPeople(r.Context(), channel, text, mostFound-len(found.Users))
		if err != nil {
			return nil, errUnreadable("Users can't be looked for now", err)
		}
		return people, nil
	})
	if err != nil {
		return err
	}
	for _, person := range people {
		if !ok || person.UserID != named.UserID {
			found.Users = append(found.Users, person)
		}
	}
	return writeJSON(w, found)
}

// overridden is a user who has something of their own.
type overridden struct {
	UserID   string                 `json:"user_id"`
	Login    string                 `json:"login"` // empty where it isn't known
	Override chatguard.UserOverride `json:"override"`
}

// overrides is what a question for those is answered with.
type overrides struct {
	Users []overridden `json:"users"`
}

// getOverrides is GET /channels/{channel}/overrides.
func (s *Server) getOverrides(w http.ResponseWriter, r *http.Request, _ caller) error {
	channel, err := s.channelOf(r)
	if err != nil {
		return err
	}
	byUser, err := s.opts.Guard.UserOverrides(channel)
	if err != nil {
		return err
	}
	all := overrides{[]overridden{}}
	for _, id := range slices.Sorted(maps.Keys(byUser)) {
		all.Users = append(all.Users, overridden{UserID: id, Override: byUser[id]})
	}
	s.name(r.Context(), channel, all.Users)
	slices.SortStableFunc(all.Users, func(a, b overridden) int { return cmp.Compare(a.Login, b.Login) })
	return writeJSON(w, all)
}

// name finds the users' logins, as far as the database tells.
func (s *Server) name(ctx context.Context, channel string, users []overridden) {
	ids := make([]string, len(users))
	for i, u := range users {
		ids[i] = u.UserID
	}
	people, err := s.opts.Store.People(ctx, channel, ids)
	if err != nil {
		s.opts.Log.Warn("the logins of users with overrides can't be read", "error", err)
		return
	}
	for i := range users {
		users[i].Login = people[users[i].UserID].Login
	}
}

// userOf returns the channel and the user that the request's path names. A user needn't have been seen.
func (s *Server) userOf(r *http.Request) (channel, user string, err error) {
	if channel, err = s.channelOf(r); err != nil {
		return "", "", err
	}
	user = r.PathValue("id")
	if user == "" || len(user) > maxText || !utf8.ValidString(user) || strings.ContainsFunc(user, unicode.IsControl) {
		return "", "", refuse(http.StatusUnprocessableEntity, "A user's ID has 1 to %d bytes of UTF-8, and no control characters.", maxText)
	}
	return channel, user, nil
}

// errUnreadable says what can't be read from the database now.
func errUnreadable(what string, cause error) error {
	return refuse(http.StatusServiceUnavailable, "%s: the database is in trouble.", what).because(cause)
}
