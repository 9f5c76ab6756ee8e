package limits

import (
	"slices"
	"time"
)

// Level is a user's usage of one limit. Times are nanoseconds since the Unix epoch.
type Level struct {
	Limit     *Rule
	Place     int // index in the policy
	Scope     Scope
	Decides   bool  // a message must fit this limit
	Used      int64 // messages of cost 1
	Capacity  int64 // for this user, now
	Granted   int64 // extra messages granted
	Remaining int64 // how many would still pass
	// NextAt is when the next message of cost 1 fits; Never if none will.
	NextAt  int64
	ResetAt int64  // when all usage will have expired
	Role    string // role whose numbers apply; empty if none
	Own     bool   // the user's own numbers apply: there are some, and they fit
	// Window and Step are those of the limit's Quota.
	Window, Step time.Duration
	Picture      Picture
}

// Standing is the part of a user's state that belongs to no limit.
type Standing struct {
	Strikes int
	// LapseAt is when the strikes lapse. It is 0 if there are no strikes, and Never if they don't
	// lapse.
	LapseAt     int64
	SilentUntil int64 // end of the user's silence; 0 if none
}

// Explain returns the user's usage of every limit, in the policy's order, and what Judge would
// decide. It changes nothing.
func (t *Table) Explain(user string, q *Request, others ...Place) (d Decision, levels []Level, s Standing) {
	levels, s = t.dryRun(user, q, &d, others).explain()
	return d, levels, s
}

// explain returns what Table.Explain returns, and judges the message.
func (h *hearing) explain() (levels []Level, s Standing) {
	h.practice = h.accounts[0].set.strikes.Practice
	for k := range h.accounts {
		a := &h.accounts[k]
		a.arrive(h.request)
		levels = h.insertLevels(levels, a)
	}
	s = h.accounts[0].standing()
	h.judge()
	return levels, s
}

// insertLevels inserts the limits of an account into the levels, in the policy's order.
func (h *hearing) insertLevels(levels []Level, a *account) []Level {
	for i := range a.rules {
		r := &a.rules[i]
		l := Level{Limit: r, Place: a.indexOf(r), Scope: a.set.limits[i].Scope, Decides: h.decides(r), NextAt: a.next(r, a.at, 1), Role: a.set.roleOf(i, h.request.Roles.in(a.set.roles))}
		level := r.level(r, r.state(a.row), a.at)
		l.Used, l.Capacity, l.ResetAt = level.used, level.capacity, level.resetAt
		l.Remaining = a.remaining(r, level)
		q := quotaOf(r, a.at)
		l.Window, l.Step = q.Window, q.Step
		l.Picture = r.picture(r, r.state(a.row), a.at)
		if a.personal != nil {
			l.Granted, _ = a.personal.extraMessages(r.name, a.at)
			if numbers, ok := a.personal.Numbers[r.name]; ok {
				_, err := a.set.ownRule(i, numbers)
				l.Own = err == nil
			}
		}
		at := len(levels)
		for at > 0 && levels[at-1].Place > l.Place {
			at--
		}
		levels = slices.Insert(levels, at, l)
	}
	return levels
}

func (a *account) standing() (s Standing) {
	s.Strikes, s.LapseAt = a.set.countStrikes(a.row, a.at)
	if until := int64(a.row[wordSilentUntil]); until > a.at {
		s.SilentUntil = until
	}
	return s
}
