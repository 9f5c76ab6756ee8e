package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/language"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// mostFound is the maximum number of users that a search returns.
const mostFound = 20

// foundUsers is the answer to a search for users.
type foundUsers struct {
	Users []foundUser `json:"users"`
	More  bool        `json:"more,omitempty"` // more users match
}

// foundUser is a user with the number of notes on them.
type foundUser struct {
	journal.Person
	Notes int `json:"notes,omitempty"`
}

// users answers read-only requests about single users.
type users struct {
	channels channels
	guard    *chatguard.Guard
	silences *control.Silences // nil if there are none
	store    Records
	reads    *longReads
	space    string // see check.Options.Space
	log      *slog.Logger
}

// findUsers is GET /users?channel=&q=&noted=. Without a channel, it searches the first channel.
// Without q, it finds the most recent writers. With noted=true, it finds only users with notes.
func (h *users) findUsers(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	q := problem.QueryOf(r)
	channel, text := q.Text("channel"), hostile.TypedName(q.Text("q"))
	find := h.store.FindPeople
	if problem.OneOf(q, "noted", []string{"true"}) != "" {
		find = h.store.FindNoted
	}
	if q.Err != nil {
		return q.Err
	}
	if all := h.channels.model.Channels(); channel == "" && len(all) > 0 {
		channel = all[0].ID
	}
	named, ok, err := h.findBySentID(r.Context(), channel, text)
	if err != nil {
		return errUnreadable("Users can't be searched now", err)
	}
	noted := h.store.NotedUsers(channel)
	found := foundUsers{Users: []foundUser{}} // an empty list in JSON, never null
	if ok {
		found.Users = append(found.Users, foundUser{named, noted[named.UserID]})
	}
	people, err := readLong(r.Context(), h.reads, who, readWait, func() ([]journal.Person, error) {
		people, err := find(r.Context(), channel, text, mostFound+1)
		if err != nil {
			return nil, errUnreadable("Users can't be searched now", err)
		}
		return people, nil
	})
	if err != nil {
		return err
	}
	for _, person := range people {
		if !ok || person.UserID != named.UserID {
			found.Users = append(found.Users, foundUser{person, noted[person.UserID]})
		}
	}
	if len(found.Users) > mostFound {
		found.Users, found.More = found.Users[:mostFound], true
	}
	return problem.WriteJSON(w, found)
}

// pathUser returns the channel and the user in the request's path. The user may be unknown.
func (h *users) pathUser(r *http.Request) (channel, user string, err error) {
	if channel, err = h.channels.pathID(r); err != nil {
		return "", "", err
	}
	user = r.PathValue("id")
	if user == "" || len(user) > problem.MaxText || !utf8.ValidString(user) || strings.ContainsFunc(user, unicode.IsControl) {
		return "", "", problem.New(http.StatusUnprocessableEntity, "A user's ID has 1 to %d bytes of UTF-8, and no control characters.", problem.MaxText)
	}
	return channel, user, nil
}

// errUnreadable returns the problem for data that cannot be read from the database now.
func errUnreadable(what language.Sentence, cause error) error {
	return problem.New(http.StatusServiceUnavailable, "%s: the database is failing.", what).Because(cause)
}

// errFilter returns the problem for a filter that can't be resolved.
func errFilter(what language.Sentence, err error) error {
	if errors.As(err, new(*problem.Problem)) {
		return err
	}
	return errUnreadable(what, err)
}

// findBySentID returns a user of a server's channel. text is the user's ID as the server sent it.
// ok is false if there is no such user.
func (h *users) findBySentID(ctx context.Context, channel, text string) (user journal.Person, ok bool, err error) {
	space := h.space
	if space == "" || text == "" || !strings.HasPrefix(channel, space) {
		return user, false, nil
	}
	return h.store.Person(ctx, channel, space+text)
}

// completeUser completes a login or ID that filters the records of a channel. If text is an ID in
// the form sent by the server, it returns the full ID.
func (h *users) completeUser(ctx context.Context, channel, text string) (string, error) {
	user, ok, err := h.findBySentID(ctx, channel, text)
	if ok {
		text = user.UserID
	}
	return text, err
}

// mostNamed is the maximum number of users that a name in a filter may match.
const mostNamed = 200

// usersNamed returns the IDs of the users of a channel that a name in a filter matches: the user
// with this ID, or the users whose login or display name contains the text. If there are more than
// mostNamed, it returns those that come first in Records.FindPeople. Without a name it returns nil.
func (h *users) usersNamed(ctx context.Context, channel, name string) ([]string, error) {
	name = hostile.TypedName(name)
	if name == "" {
		return nil, nil
	}
	if channel == "" {
		return nil, problem.New(http.StatusUnprocessableEntity, "A name is searched in one channel: add the parameter channel.")
	}
	full, err := h.completeUser(ctx, channel, name)
	if err != nil {
		return nil, err
	}
	people, err := h.store.FindPeople(ctx, channel, full, mostNamed)
	if err != nil {
		return nil, err
	}
	ids := []string{full} // perhaps of a user who isn't known any more
	if len(people) > 0 && people[0].UserID == full {
		return ids, nil
	}
	for _, person := range people {
		ids = append(ids, person.UserID)
	}
	return ids, nil
}
