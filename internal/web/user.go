package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// lastEntries is how many of a user's entries their card has.
const lastEntries = 20

// card is everything there is to know of a user in a channel: why they may write now, or may not.
type card struct {
	Channel  string          `json:"channel"`
	UserID   string          `json:"user_id"`
	Login    string          `json:"login"` // empty for a user who wasn't seen
	Roles    chatguard.Roles `json:"roles"` // as they were last seen; what follows is under these
	LastSeen time.Time       `json:"last_seen,omitzero"`
	Timezone string          `json:"timezone"` // of the user's day

	chatguard.Explanation
	EverywhereOverride chatguard.UserOverride `json:"everywhere_override"` // what the user has of their own in limits that count in all channels

	Entries            []journal.Entry `json:"entries"`                       // the last ones, the newest first
	EntriesUnavailable bool            `json:"entries_unavailable,omitempty"` // the database is in trouble: entries, login and roles aren't known
}

// getUser is GET /channels/{channel}/users/{id}. While the database can't be read it tells what the Guard knows.
func (s *Server) getUser(w http.ResponseWriter, r *http.Request, _ caller) error {
	channel, user, err := s.userOf(r)
	if err != nil {
		return err
	}
	c := card{Channel: channel, UserID: user}
	if err := s.recall(r.Context(), &c); err != nil {
		s.opts.Log.Warn("a user's entries can't be read", "error", err)
		c.EntriesUnavailable = true
	}
	if c.Explanation, err = s.explain(channel, user, c.Roles); err != nil {
		return refuse(http.StatusUnprocessableEntity, "%s", err)
	}
	c.EverywhereOverride, err = s.opts.Guard.UserOverride("", user)
	if err != nil && !errors.Is(err, chatguard.ErrNoLimit) {
		return err
	}
	c.Timezone = dayZone(s.opts.Guard.InForce(channel), c.Override)
	return writeJSON(w, c)
}

// recall fills in what the database knows of a user.
func (s *Server) recall(ctx context.Context, c *card) error {
	c.Entries = []journal.Entry{}
	person, _, err := s.opts.Store.Person(ctx, c.Channel, c.UserID)
	if err != nil {
		return err
	}
	c.Login, c.Roles, c.LastSeen = person.Login, person.Roles, person.LastSeen
	entries, err := s.opts.Store.Entries(ctx, journal.EntryFilter{ChannelID: c.Channel, User: c.UserID, N: lastEntries})
	c.Entries = append(c.Entries, entries...)
	return err
}

// explain says how a user stands now.
func (s *Server) explain(channel, user string, roles chatguard.Roles) (chatguard.Explanation, error) {
	return s.opts.Guard.Explain(chatguard.Message{ChannelID: channel, User: chatguard.User{ID: user, Roles: roles}, SentAt: s.opts.Now()})
}

// dayZone is the zone in which a user's day begins and ends.
func dayZone(p chatguard.Policy, own chatguard.UserOverride) string {
	limit := ""
	if i := slices.IndexFunc(p.Limits, isDaily); i >= 0 {
		limit = p.Limits[i].Timezone
	}
	return cmp.Or(own.Timezone, limit, p.Timezone, "UTC")
}

func isDaily(l chatguard.Limit) bool {
	return l.Algorithm == chatguard.DailyWindow && l.Per != chatguard.PerChannel
}
