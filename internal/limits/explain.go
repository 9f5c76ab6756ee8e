package limits

import "slices"

// Level is how a user stands with one limit. Times are nanoseconds since the Unix epoch.
type Level struct {
	Limit     *Rule
	Place     int // in the policy
	Scope     Scope
	Decides   bool  // a message has to fit it
	Used      int64 // messages of cost 1
	Capacity  int64 // as it holds for this user, now
	Granted   int64 // extra messages that were given
	Remaining int64 // that would still pass
	NextAt    int64 // when the next message of cost 1 fits; Never when none will
	ResetAt   int64 // when everything will be forgotten
	Role      int   // the role whose numbers count; -1 without one
	Own       bool  // the user's own numbers count
}

// Standing is how a user stands, beyond the limits.
type Standing struct {
	Strikes     int
	LapseAt     int64 // when they do; 0 without strikes, Never where they don't
	SilentUntil int64 // until when a penalty silences the user; 0 for not at all
	Own         Own
}

// Explain says how the user stands with every limit, in the policy's order, and what Judge would decide. It changes nothing.
func (t *Table) Explain(user string, q *Request, others ...Place) (d Decision, levels []Level, s Standing) {
	h := t.rehearse(user, q, &d, others)
	h.practice = h.accounts[0].set.strikes.Practice
	for k := range h.accounts {
		a := &h.accounts[k]
		a.arrive(q.At)
		levels = h.levels(levels, a)
	}
	s = h.accounts[0].standing()
	h.judge()
	return d, levels, s
}

// levels adds the limits of an account to those that are in the policy's order.
func (h *hearing) levels(levels []Level, a *account) []Level {
	for i := range a.rules {
		r := &a.rules[i]
		l := Level{Limit: r, Place: a.place(r), Scope: a.set.limits[i].Scope, Decides: h.decides(r), NextAt: a.next(r, a.at, 1), Role: a.set.limits[i].role(h.request.Roles)}
		level := r.level(r, r.state(a.row), a.at)
		l.Used, l.Capacity, l.ResetAt = level.used, level.capacity, level.resetAt
		l.Remaining = a.remaining(r, level)
		if a.personal != nil {
			l.Granted, _ = a.personal.granted(r.name, a.at)
			_, l.Own = a.personal.Numbers[r.name]
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
	s.Strikes, s.LapseAt = a.set.lapse(a.row, a.at)
	if until := int64(a.row[wordSilentUntil]); until > a.at {
		s.SilentUntil = until
	}
	if a.personal != nil {
		s.Own = a.personal.asOf(a.at).clone()
	}
	return s
}
