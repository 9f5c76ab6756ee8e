package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/language"
	"github.com/chatguard/chatguard/internal/simulate"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
	"github.com/chatguard/chatguard/limitinfo"
)

const (
	weekLength = 7 * 24 * time.Hour
	// mostAmendments is the maximum number of grants, and of resets, that are read for a user. The
	// newest ones are read.
	mostAmendments = 500
)

// everyone is the user ID for the week of a limit that everyone shares.
const everyone = ""

// anyone is a user ID for asking the Guard about shared limits. Their state is the same for all
// users without roles.
const anyone = "0"

// week says how much of one limit a user, or everyone who shares the limit, had left during the
// last seven days.
type week struct {
	Limit    string    `json:"limit"`
	Capacity int       `json:"capacity"` // the current capacity
	From     time.Time `json:"from"`
	Until    time.Time `json:"until"` // the time of the request
	// Points contains a point for each change, and a last one for the time of the request. The
	// API's description says what they are computed from.
	Points []simulate.Point `json:"points"`
}

// getWeek is GET /channels/{channel}/users/{id}/week?limit=. Without a limit it uses the first
// daily limit per user. If there is none, it uses the first one with a window, or else the first.
func (h *users) getWeek(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	channel, user, err := h.pathUser(r)
	if err != nil {
		return err
	}
	return h.answerWeek(w, r, who, channel, user)
}

// getSharedWeek is GET /channels/{channel}/week?limit=. It is like getWeek, for a limit that
// everyone in the channel, or in all channels, shares.
func (h *users) getSharedWeek(w http.ResponseWriter, r *http.Request, who access.Caller, channel string) error {
	return h.answerWeek(w, r, who, channel, everyone)
}

func (h *users) answerWeek(w http.ResponseWriter, r *http.Request, who access.Caller, channel, user string) error {
	policy := inner.Of(h.guard).InForce(channel)
	limit, err := weekLimit(policy.Limits, r.URL.Query().Get("limit"), user == everyone)
	if err != nil {
		return err
	}
	limit.Timezone = cmp.Or(limit.Timezone, policy.Timezone)
	return answerLong(w, r, h.reads, who, func() (week, error) { return h.computeWeek(r.Context(), channel, user, limit) })
}

// weekLimit returns the limit with this name. If shared is true, it must be a limit that everyone
// shares, and otherwise one that counts each user. If name is empty, it returns the limit that is
// most informative for a week.
func weekLimit(limits []chatguard.Limit, name string, shared bool) (chatguard.Limit, error) {
	fits := func(l chatguard.Limit) bool { return !inner.IsText(l.Per) && inner.IsShared(l.Per) == shared }
	if i := slices.IndexFunc(limits, func(l chatguard.Limit) bool { return l.Name == name }); i >= 0 {
		if !fits(limits[i]) {
			return chatguard.Limit{}, errOtherWeek(limits[i])
		}
		return limits[i], nil
	}
	limits = slices.DeleteFunc(limits, func(l chatguard.Limit) bool { return !fits(l) })
	if name != "" || len(limits) == 0 {
		return chatguard.Limit{}, errNoWeek(limits, name, shared)
	}
	return slices.MaxFunc(limits, func(a, b chatguard.Limit) int { return cmp.Compare(weekRank(a), weekRank(b)) }), nil
}

// errOtherWeek returns the problem for a limit that has its week at another address, or none.
func errOtherWeek(l chatguard.Limit) error {
	if inner.IsText(l.Per) {
		return problem.New(http.StatusUnprocessableEntity, "The limit %q counts each text, so nobody has a week in it.", l.Name)
	}
	if inner.IsShared(l.Per) {
		return problem.New(http.StatusUnprocessableEntity, "The limit %q is shared by everyone, so no user has a week of their own in it; use GET /channels/{channel}/week?limit=%s.", l.Name, l.Name)
	}
	return problem.New(http.StatusUnprocessableEntity, "The limit %q counts each user, so nothing of it is shared; use GET /channels/{channel}/users/{id}/week?limit=%s.", l.Name, l.Name)
}

// errNoWeek returns the problem for a name that no limit has, or for a channel without fitting
// limits.
func errNoWeek(fitting []chatguard.Limit, name string, shared bool) error {
	kind, per := language.Sentence("counts per user"), "user"
	if shared {
		kind, per = language.Sentence("everyone shares"), "channel"
	}
	names := make([]string, len(fitting))
	for i, l := range fitting {
		names[i] = l.Name
	}
	switch {
	case name == "":
		return problem.New(http.StatusUnprocessableEntity, "There is no limit that %s in this channel; add one with per = %q.", kind, per)
	case len(fitting) == 0:
		return problem.New(http.StatusUnprocessableEntity, "There is no limit %s in this channel; add one with per = %q that %s.", problem.Quote(name), per, kind)
	}
	return problem.New(http.StatusUnprocessableEntity, "There is no limit %s in this channel; use one that %s: %s.", problem.Quote(name), kind, strings.Join(names, ", "))
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

// computeWeek recomputes the state of a user's or everyone's limit over the last seven days from
// what was spent. The last point is the actual state.
func (h *users) computeWeek(ctx context.Context, channel, user string, limit chatguard.Limit) (week, error) {
	now := h.guard.Now()
	answer := week{Limit: limit.Name, From: now.Add(-weekLength).Truncate(simulate.Quarter).UTC(), Until: now.UTC()}
	person, err := h.personOf(ctx, channel, user)
	if err != nil {
		return answer, errUnreadable("The week can't be read now", err)
	}
	known, err := h.readHistory(ctx, channel, user, limit, answer.From.Add(-simulate.Lead(limit)))
	if err != nil {
		return answer, errUnreadable("The week can't be read now", err)
	}
	live, err := h.explain(ctx, channel, cmp.Or(user, anyone), person.Roles)
	if err != nil {
		return answer, problem.New(http.StatusUnprocessableEntity, "%s", journal.Sentence(err))
	}
	var own chatguard.UserOverride
	if user != everyone {
		key := chatguard.Key{ChannelID: channel, UserID: user}
		if limit.Per == chatguard.PerUserEverywhere {
			key = chatguard.Key{UserID: user, Per: chatguard.PerUserEverywhere}
		}
		if own, err = h.overrideOf(ctx, key); err != nil {
			return answer, err
		}
	}
	var state limitinfo.Status
	i := slices.IndexFunc(live.Limits, func(l limitinfo.Status) bool { return l.Name == limit.Name })
	if i >= 0 {
		state = live.Limits[i]
	}
	if answer.Points, err = simulate.Remaining(limit, own, state.Role, known, answer.From, now); err != nil {
		return answer, err
	}
	if i >= 0 {
		answer.Capacity = state.Capacity
		if period := cmp.Or(limit.Period, chatguard.PeriodDay); period != chatguard.PeriodDay {
			answer.Points = presentPeriod(answer.Points, answer.From, state)
		}
		answer.Points = append(answer.Points, simulate.Point{At: answer.Until, Remaining: state.Remaining})
	}
	return answer, nil
}

// presentPeriod returns the points since the present week or month of a limit began. Usage is kept
// for little more than seven days, so it isn't known how much was left before. Usage that is no
// longer kept, but still counts, is the difference between the last point and the actual state.
func presentPeriod(points []simulate.Point, from time.Time, state limitinfo.Status) []simulate.Point {
	if state.Picture.From.After(from) {
		from = state.Picture.From
	}
	next := slices.IndexFunc(points, func(p simulate.Point) bool { return !p.At.Before(from) })
	if next < 0 {
		next = len(points)
	}
	if next > 0 && (next == len(points) || points[next].At.After(from)) {
		next--
		points[next].At = from.UTC() // nothing changed when the period began
	}
	points = points[next:]
	if len(points) == 0 {
		return points
	}
	missing := max(0, points[len(points)-1].Remaining-state.Remaining)
	for i := range points {
		points[i].Remaining = max(0, points[i].Remaining-missing)
	}
	return points
}

// personOf returns a user as last seen, or for everyone a person without roles.
func (h *users) personOf(ctx context.Context, channel, user string) (journal.Person, error) {
	if user == everyone {
		return journal.Person{}, nil
	}
	person, _, err := h.store.Person(ctx, channel, user)
	return person, err
}

// readHistory reads the records about a limit since a time: those about a user, or about everyone.
func (h *users) readHistory(ctx context.Context, channel, user string, limit chatguard.Limit, since time.Time) (known simulate.History, err error) {
	if limit.Per == chatguard.PerEverywhere {
		channel = "" // messages in all channels count here
	}
	known.Spent, err = h.store.QuarterHours(ctx, channel, user, since)
	if err != nil || user == everyone { // people can change only users
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
