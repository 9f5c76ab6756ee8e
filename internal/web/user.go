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
	DayEnds  time.Time       `json:"day_ends"` // when that ends; the next midnight in its zone where no limit counts by days

	RoleNumbers map[string]chatguard.Override `json:"role_numbers"` // by limit: the numbers that count where the user has none of their own

	chatguard.Explanation
	OverrideETag       string                 `json:"override_etag"`       // of what the user has of their own in this channel
	EverywhereOverride chatguard.UserOverride `json:"everywhere_override"` // what the user has of their own in limits that count in all channels

	Entries            []shownEntry `json:"entries"`                       // the last ones, the newest first
	EntriesUnavailable bool         `json:"entries_unavailable,omitempty"` // the database is in trouble: entries, login and roles aren't known
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
	policy := s.opts.Guard.InForce(channel)
	c.OverrideETag = tagOf(c.Override)
	c.Timezone = dayZone(policy, c.Override)
	c.DayEnds = dayEnd(c.Limits, c.Timezone, s.opts.Now())
	c.RoleNumbers = roleNumbers(policy.Limits, c.Roles)
	return writeJSON(w, c)
}

// recall fills in what the database knows of a user.
func (s *Server) recall(ctx context.Context, c *card) error {
	c.Entries = []shownEntry{}
	person, _, err := s.opts.Store.Person(ctx, c.Channel, c.UserID)
	if err != nil {
		return err
	}
	c.Login, c.Roles, c.LastSeen = person.Login, person.Roles, person.LastSeen
	entries, err := s.opts.Store.Entries(ctx, journal.EntryFilter{ChannelID: c.Channel, UserID: c.UserID, N: lastEntries})
	if err != nil {
		return err
	}
	shown, err := s.withPardons(ctx, entries)
	c.Entries = append(c.Entries, shown...)
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

// dayEnd is when the user's day ends.
func dayEnd(standing []chatguard.LimitStatus, zone string, now time.Time) time.Time {
	for _, l := range standing {
		if l.Algorithm == chatguard.DailyWindow && l.Per != chatguard.PerChannel && l.ResetAt.After(now) {
			return l.ResetAt
		}
	}
	location, err := time.LoadLocation(zone)
	if err != nil {
		location = time.UTC // zones of policies and overrides are known
	}
	year, month, day := now.In(location).Date()
	return time.Date(year, month, day+1, 0, 0, 0, 0, location)
}

// roleNumbers are the numbers that count in each limit for who has these roles: those of the highest that has any, in place of everyone's.
func roleNumbers(limits []chatguard.Limit, roles chatguard.Roles) map[string]chatguard.Override {
	numbers := map[string]chatguard.Override{}
	for _, l := range limits {
		own, highest := chatguard.Override{}, -1
		for role, o := range l.Roles {
			if roles.Has(role) && int(role) > highest {
				own, highest = o, int(role)
			}
		}
		numbers[l.Name] = chatguard.Override{
			Burst: cmp.Or(own.Burst, l.Burst), Refill: cmp.Or(own.Refill, l.Refill),
			Queue: cmp.Or(own.Queue, l.Queue, noQueue(l)), Messages: cmp.Or(own.Messages, l.Messages),
		}
	}
	return numbers
}

// noQueue is the number of places in the queue of a limit that has none.
func noQueue(l chatguard.Limit) int {
	if l.Algorithm == chatguard.LeakyBucket {
		return chatguard.NoQueue
	}
	return 0
}
