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
	// weekLead is how much of the time before is replayed, too, so that the week begins with what was left then: as much as is known.
	weekLead = 24 * time.Hour
	quarter  = 15 * time.Minute
	// mostAmendments is how many grants and resets of a user are looked at: the newest.
	mostAmendments = 500
)

// week is how much of one limit a user had left over the last seven days.
type week struct {
	Limit    string      `json:"limit"`
	Capacity int         `json:"capacity"` // of the user, as it is now
	From     time.Time   `json:"from"`
	Until    time.Time   `json:"until"`  // now
	Points   []weekPoint `json:"points"` // where it changes, the last one among them; what they are reckoned from is among the meanings
}

type weekPoint struct {
	At        time.Time `json:"at"`
	Remaining int       `json:"remaining"`
}

// getWeek is GET /channels/{channel}/users/{id}/week?limit=. Without a limit it is about the first that counts by days, else the first that counts in
// windows, else the first.
func (s *Server) getWeek(w http.ResponseWriter, r *http.Request, who caller) error {
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
	answer, err := readLong(r.Context(), s.reads, who, readWait, func() (week, error) { return s.weekOf(r.Context(), channel, user, limit) })
	if err != nil {
		return err
	}
	return writeJSON(w, answer)
}

// limitOfWeek returns the limit with a name, or that which tells most of a week.
func limitOfWeek(limits []chatguard.Limit, name string) (chatguard.Limit, error) {
	limits = slices.DeleteFunc(limits, func(l chatguard.Limit) bool { return l.Per == chatguard.PerChannel || name != "" && l.Name != name })
	if len(limits) == 0 {
		return chatguard.Limit{}, refuse(http.StatusUnprocessableEntity, "There is no limit %s that a user has an allowance of their own in.", quoted(name))
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

// weekOf spends anew what was spent in the last seven days. The last point is how the user really stands.
func (s *Server) weekOf(ctx context.Context, channel, user string, limit chatguard.Limit) (week, error) {
	now := s.opts.Now()
	answer := week{Limit: limit.Name, From: now.Add(-weekLength).Truncate(quarter).UTC(), Until: now.UTC()}
	person, _, err := s.opts.Store.Person(ctx, channel, user)
	if err != nil {
		return answer, errUnreadable("The week can't be read now", err)
	}
	known, err := s.historyOf(ctx, channel, user, limit, answer.From.Add(-weekLead))
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
	if answer.Points, err = replayWeek(limit, own, person.Roles, known, answer.From, now); err != nil {
		return answer, err
	}
	if i := slices.IndexFunc(live.Limits, func(l chatguard.LimitStatus) bool { return l.Name == limit.Name }); i >= 0 {
		answer.Capacity = live.Limits[i].Capacity
		answer.Points = append(answer.Points, weekPoint{answer.Until, live.Limits[i].Remaining})
	}
	return answer, nil
}

// historyOf reads what is known of a user and a limit since a time.
func (s *Server) historyOf(ctx context.Context, channel, user string, limit chatguard.Limit, since time.Time) (known lived, err error) {
	if known.spent, err = s.opts.Store.QuarterHours(ctx, channel, user, since); err != nil {
		return known, err
	}
	wanted := journal.AuditFilter{ChannelID: channel, UserID: user, Action: journal.UserGranted, N: mostAmendments}
	if limit.Per == chatguard.PerUserEverywhere {
		wanted.ChannelID = "" // what was given in any of them counts here
	}
	grants, err := s.opts.Store.Audits(ctx, wanted)
	if err != nil {
		return known, err
	}
	known.addGrants(grants, limit.Name)
	if limit.Per == chatguard.PerUser { // a reset leaves the others alone
		wanted.Action = journal.UserReset
		resets, err := s.opts.Store.Audits(ctx, wanted)
		if err != nil {
			return known, err
		}
		known.addResets(resets)
	}
	known.arrange(since)
	return known, nil
}
