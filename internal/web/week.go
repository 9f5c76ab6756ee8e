package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/simulate"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

const (
	weekLength = 7 * 24 * time.Hour
	// mostAmendments is the maximum number of grants, and of resets, that are read for a user. The
	// newest ones are read.
	mostAmendments = 500
)

// week is how much of one limit was left to a user during the last seven days.
type week struct {
	Limit    string    `json:"limit"`
	Capacity int       `json:"capacity"` // the user's current capacity
	From     time.Time `json:"from"`
	Until    time.Time `json:"until"` // the time of the request
	// Points contains a point for each change, and a last one for the time of the request. The
	// variable meanings explains what they are computed from.
	Points []simulate.Point `json:"points"`
}

// getWeek is GET /channels/{channel}/users/{id}/week?limit=. Without a limit it uses the first
// daily limit. If there is none, it uses the first limit with a window, or else the first limit.
func (h *users) getWeek(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	channel, user, err := h.pathUser(r)
	if err != nil {
		return err
	}
	policy := h.guard.InForce(channel)
	limit, err := weekLimit(policy.Limits, r.URL.Query().Get("limit"))
	if err != nil {
		return err
	}
	limit.Timezone = cmp.Or(limit.Timezone, policy.Timezone)
	return answerLong(w, r, h.reads, who, func() (week, error) { return h.computeWeek(r.Context(), channel, user, limit) })
}

// weekLimit returns the limit with this name. If name is empty, it returns the limit that is most
// informative for a week.
func weekLimit(limits []chatguard.Limit, name string) (chatguard.Limit, error) {
	limits = slices.DeleteFunc(limits, func(l chatguard.Limit) bool { return l.Per.Shared() || name != "" && l.Name != name })
	if len(limits) == 0 {
		return chatguard.Limit{}, problem.New(http.StatusUnprocessableEntity, "There is no limit %s that counts per user.", problem.Quote(name))
	}
	return slices.MaxFunc(limits, func(a, b chatguard.Limit) int { return cmp.Compare(weekRank(a), weekRank(b)) }), nil
}

// weekRank ranks limits by how informative they are for a week.
func weekRank(l chatguard.Limit) int {
	switch l.Algorithm {
	case chatguard.DailyWindow:
		return 2
	case chatguard.FixedWindow, chatguard.UserWindow, chatguard.SlidingWindow, chatguard.SlidingLog:
		return 1
	}
	return 0
}

// computeWeek recomputes the user's state over the last seven days from what they spent. The last
// point is the user's actual state.
func (h *users) computeWeek(ctx context.Context, channel, user string, limit chatguard.Limit) (week, error) {
	now := h.now()
	answer := week{Limit: limit.Name, From: now.Add(-weekLength).Truncate(simulate.Quarter).UTC(), Until: now.UTC()}
	person, _, err := h.store.Person(ctx, channel, user)
	if err != nil {
		return answer, errUnreadable("The week can't be read now", err)
	}
	known, err := h.readHistory(ctx, channel, user, limit, answer.From.Add(-simulate.Lead))
	if err != nil {
		return answer, errUnreadable("The week can't be read now", err)
	}
	live, err := h.explain(channel, user, person.Roles)
	if err != nil {
		return answer, problem.New(http.StatusUnprocessableEntity, "%s", journal.Sentence(err))
	}
	own := live.Override
	if limit.Per == chatguard.PerUserEverywhere {
		if own, err = h.guard.UserOverride(chatguard.Key{UserID: user, Per: chatguard.PerUserEverywhere}); err != nil {
			return answer, err
		}
	}
	if answer.Points, err = simulate.Remaining(limit, own, person.Roles, known, answer.From, now); err != nil {
		return answer, err
	}
	if i := slices.IndexFunc(live.Limits, func(l chatguard.LimitStatus) bool { return l.Name == limit.Name }); i >= 0 {
		answer.Capacity = live.Limits[i].Capacity
		answer.Points = append(answer.Points, simulate.Point{At: answer.Until, Remaining: live.Limits[i].Remaining})
	}
	return answer, nil
}

// readHistory reads the records about a user and a limit since a time.
func (h *users) readHistory(ctx context.Context, channel, user string, limit chatguard.Limit, since time.Time) (known simulate.History, err error) {
	if known.Spent, err = h.store.QuarterHours(ctx, channel, user, since); err != nil {
		return known, err
	}
	wanted := journal.AuditFilter{ChannelID: channel, UserID: user, Action: journal.UserGranted, N: mostAmendments}
	if limit.Per == chatguard.PerUserEverywhere {
		wanted.ChannelID = "" // grants in all channels count here
	}
	grants, err := h.store.Audits(ctx, wanted)
	if err != nil {
		return known, err
	}
	known.AddGrants(grants, limit.Name)
	if limit.Per == chatguard.PerUser { // a reset affects only limits per user
		wanted.Action = journal.UserReset
		resets, err := h.store.Audits(ctx, wanted)
		if err != nil {
			return known, err
		}
		known.AddResets(resets)
	}
	known.Sort(since)
	return known, nil
}
