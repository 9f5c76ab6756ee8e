package limits

import (
	"math"
	"slices"
	"strconv"
	"time"
)

// Quota is a limit with the numbers that apply to one user.
type Quota struct {
	Limit    string // the limit's name
	Messages int    // how many messages of cost 1 the whole quota allows
	// Window is the time in which the whole quota is restored. For a limit that counts by periods,
	// it is the duration of the period.
	Window time.Duration
	// Step is the time to restore one message of a bucket. It is 0 for windows, logs and cascades.
	Step time.Duration
	// Gradual means that messages are restored little by little, and that a decision doesn't say
	// when the next one is restored.
	Gradual bool

	Role  string // whose numbers apply; empty if none
	Place int    // index in the policy
}

// quotaOf returns the quota that a rule allows at that time.
func quotaOf(r *Rule, at int64) Quota {
	q := Quota{Limit: r.name, Messages: int(r.capacity), Window: time.Duration(r.interval), Place: r.place}
	switch r.algorithm {
	case &tokenBucket, &leakyBucket:
		q.Step, q.Window = q.Window, q.Window*time.Duration(r.capacity)
	case &cascade:
		q.Messages, q.Window, q.Gradual = 0, 0, true
		for _, b := range r.buckets {
			q.Messages += int(b.capacity)
			q.Window = max(q.Window, time.Duration(b.interval*b.capacity))
		}
	case &dailyWindow:
		period := r.calendar.PeriodOf(at / nanosPerSecond)
		q.Window = time.Duration(period.End-period.Start) * time.Second
	case &slidingWindow, &slicedWindow, &slidingLog:
		q.Gradual = true
	}
	return q
}

// Quotas are the quotas of one user, for the limits that decide, in the policy's order. Limits on
// repeated text aren't among them: each text has an allowance of its own.
type Quotas struct {
	List []Quota
	// Text is the value of the header RateLimit-Policy: each limit with its quota (q) and its
	// window in seconds (w), as in `"burst";q=3;w=12, "daily";q=300;w=86400`.
	Text string

	during Period // in which the quotas stay the same, in seconds since the Unix epoch
}

// IsValid reports whether the quotas are the same at another time.
func (q *Quotas) IsValid(at int64) bool {
	return q.during.Start <= at/nanosPerSecond && at/nanosPerSecond < q.during.End
}

// Find returns the quota of a limit, or nil.
func (q *Quotas) Find(limit string) *Quota {
	for i := range q.List {
		if q.List[i].Limit == limit {
			return &q.List[i]
		}
	}
	return nil
}

// Quotas returns the quotas at a time of a user with these roles, without those of repeated texts.
// own are the user's own numbers, by scope and limit. Those that the limit can't have don't apply.
func (s *Sets) Quotas(roles Roles, own [MaxSets]map[string]Numbers, at int64) *Quotas {
	q := &Quotas{during: Period{End: math.MaxInt64}}
	for scope, set := range s {
		if set != nil && set.text == nil { // what a text may use isn't what the user may
			q.add(set, roles, personal{Own: Own{Numbers: own[scope]}}, at)
		}
	}
	var b []byte
	for i, each := range q.List {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendQuote(b, each.Limit) // letters, digits, - and _ only
		b = strconv.AppendInt(append(b, ";q="...), int64(each.Messages), 10)
		b = strconv.AppendInt(append(b, ";w="...), int64((each.Window+time.Second-1)/time.Second), 10)
	}
	q.Text = string(b)
	return q
}

// TextQuotas returns what the limits on repeated text that decide allow each text, if a user with
// these roles writes it.
func (s *Sets) TextQuotas(roles Roles, at int64) []Quota {
	var q Quotas
	for _, set := range s.Texts() {
		q.add(set, roles, personal{}, at)
	}
	return q.List
}

// add adds the limits of a set that decide.
func (q *Quotas) add(set *Set, roles Roles, p personal, at int64) {
	for i, r := range p.rulesFor(set, roles.in(set.roles)) {
		if r.observes && !set.strikes.Practice {
			continue
		}
		quota := quotaOf(&r, at)
		quota.Role = set.roleOf(i, roles.in(set.roles))
		q.List = append(q.List, quota)
		if r.calendar != nil {
			period := r.calendar.PeriodOf(at / nanosPerSecond)
			q.during = Period{Start: max(q.during.Start, period.Start), End: min(q.during.End, period.End)}
		}
	}
	slices.SortFunc(q.List, func(a, b Quota) int { return a.Place - b.Place })
}
