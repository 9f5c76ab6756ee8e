package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

const (
	weekLength = 7 * 24 * time.Hour
	quarter    = 15 * time.Minute
)

// week is how much of one limit a user had left over the last seven days.
type week struct {
	Limit    string      `json:"limit"`
	Capacity int         `json:"capacity"` // of the user, as it is now
	From     time.Time   `json:"from"`
	Until    time.Time   `json:"until"`  // now
	Points   []weekPoint `json:"points"` // where it changes, the first and the last one among them; it stays the same in between
}

type weekPoint struct {
	At        time.Time `json:"at"`
	Remaining int       `json:"remaining"`
}

// getWeek is GET /channels/{channel}/users/{id}/week?limit=. Without a limit it is about the first that counts by days, else the first that counts in
// windows, else the first.
func (s *Server) getWeek(w http.ResponseWriter, r *http.Request, _ caller) error {
	channel, user, err := s.userOf(r)
	if err != nil {
		return err
	}
	policy := s.opts.Guard.InForce(channel)
	limit, err := limitOfWeek(policy.Limits, r.URL.Query().Get("limit"))
	if err != nil {
		return err
	}
	limit.Timezone = cmp.Or(limit.Timezone, policy.Timezone)
	answer, err := s.weekOf(r.Context(), channel, user, limit)
	if err != nil {
		return err
	}
	return writeJSON(w, answer)
}

// limitOfWeek returns the limit with a name, or that which tells most of a week.
func limitOfWeek(limits []chatguard.Limit, name string) (chatguard.Limit, error) {
	limits = slices.DeleteFunc(limits, func(l chatguard.Limit) bool { return l.Per == chatguard.PerChannel || name != "" && l.Name != name })
	if len(limits) == 0 {
		return chatguard.Limit{}, refuse(http.StatusUnprocessableEntity, "There is no limit %q that a user has an allowance of their own in.", name)
	}
	return slices.MaxFunc(limits, func(a, b chatguard.Limit) int { return cmp.Compare(tellsOfWeek(a), tellsOfWeek(b)) }), nil
}

// tellsOfWeek ranks limits by how much they tell of a week.
func tellsOfWeek(l chatguard.Limit) int {
	switch l.Algorithm {
	case chatguard.DailyWindow:
		return 2
	case chatguard.FixedWindow, chatguard.UserWindow, chatguard.SlidingWindow, chatguard.SlidingLog:
		return 1
	}
	return 0
}

// weekOf judges anew what was allowed in the last seven days. The last point is how the user really stands.
func (s *Server) weekOf(ctx context.Context, channel, user string, limit chatguard.Limit) (week, error) {
	now := s.opts.Now()
	answer := week{Limit: limit.Name, From: now.Add(-weekLength).Truncate(quarter).UTC(), Until: now.UTC()}
	person, _, err := s.opts.Store.Person(ctx, channel, user)
	if err != nil {
		return answer, errUnreadable("The week can't be read now", err)
	}
	spent, err := s.opts.Store.QuarterHours(ctx, channel, user, answer.From)
	if err != nil {
		return answer, errUnreadable("The week can't be read now", err)
	}
	live, err := s.explain(channel, user, person.Roles)
	if err != nil {
		return answer, refuse(http.StatusUnprocessableEntity, "%s", err)
	}
	own := live.Override
	if limit.Per == chatguard.PerUserEverywhere {
		if own, err = s.opts.Guard.UserOverride("", user); err != nil {
			return answer, err
		}
	}
	if answer.Points, err = replayWeek(limit, own, person.Roles, spent, answer.From, now); err != nil {
		return answer, err
	}
	if i := slices.IndexFunc(live.Limits, func(l chatguard.LimitStatus) bool { return l.Name == limit.Name }); i >= 0 {
		answer.Capacity = live.Limits[i].Capacity
		answer.Points = append(answer.Points, weekPoint{answer.Until, live.Limits[i].Remaining})
	}
	return answer, nil
}

// replayWeek lets a Guard that has only this limit, and only this user, judge what was allowed, quarter by quarter. What was granted isn't known to it.
func replayWeek(
	limit chatguard.Limit, own chatguard.UserOverride, roles chatguard.Roles, spent []journal.QuarterHour, from, until time.Time,
) ([]weekPoint, error) {
	limit.Per, limit.Mode, limit.CountThrottled = chatguard.PerUser, chatguard.LimitEnforces, false
	if limit.Algorithm == chatguard.DailyWindow {
		limit.Timezone = cmp.Or(own.Timezone, limit.Timezone) // as if it had been so all week
	} else {
		limit.Timezone = ""
	}
	guard, err := chatguard.New(chatguard.Policy{Mode: chatguard.Enforce, Limits: []chatguard.Limit{limit}}, nil)
	if err != nil {
		return nil, err
	}
	m := chatguard.Message{ChannelID: "week", User: chatguard.User{ID: "user", Roles: roles}}
	if numbers, ok := own.Limits[limit.Name]; ok {
		mine := chatguard.UserOverride{Limits: map[string]chatguard.Override{limit.Name: numbers}}
		if err := guard.SetUserOverride(m.ChannelID, m.User.ID, mine, from); err != nil {
			return nil, err
		}
	}
	var points []weekPoint
	for at := from; at.Before(until); at = at.Add(quarter) {
		m.SentAt = at
		for len(spent) > 0 && spent[0].At.Before(at.Add(quarter)) {
			m.Cost = max(spent[0].Allowed, 1)
			if _, _, err := guard.Take(context.Background(), m); err != nil {
				return nil, err
			}
			spent = spent[1:]
		}
		m.Cost = 1
		e, err := guard.Explain(m)
		if err != nil {
			return nil, err
		}
		if left := e.Limits[0].Remaining; len(points) == 0 || points[len(points)-1].Remaining != left {
			points = append(points, weekPoint{at, left})
		}
	}
	return points, nil
}
