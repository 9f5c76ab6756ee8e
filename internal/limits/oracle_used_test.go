package limits

import (
	"slices"
	"sort"
)

// usedLimit is one limit that applies to a decision.
type usedLimit struct {
	Limit
	*plainRow
	ledger ledger
	p      plainNumbers
	at     int64 // when the message counts there
	kept   int64 // how much of the room isn't for the message
}

func (s usedLimit) extraMessages(at int64) (left int64) {
	for _, g := range s.grants {
		if g.limit == s.Name && g.until > at {
			left += g.left
		}
	}
	return left
}

// fits reports whether n would fit at that time, or at the row's if that is later, in the regular
// allowance plus grants.
func (s usedLimit) fits(at, n int64) bool {
	if c, ok := s.ledger.(*plainCascade); ok {
		first, second := s.bucketsOf(c)
		return first.fits(at, n) || second.fits(at, n)
	}
	at, n = max(at, s.at), n+s.kept
	granted := s.extraMessages(at)
	return granted >= n || s.ledger.fits(at, n-granted, s.p)
}

// regularRemaining returns how many messages of cost 1 would pass one after another at the same
// time, without grants.
func (s usedLimit) regularRemaining() (n int64) {
	for trial := s.ledger.clone(); trial.fits(s.at, 1, s.p); n++ {
		trial.spend(s.at, 1, s.p)
	}
	return n
}

func (s usedLimit) remaining() int64 { return s.regularRemaining() + s.extraMessages(s.at) }

// spend spends n, from the regular allowance as far as possible. A cascade's first bucket and the
// grants pay it, or another bucket alone.
func (s usedLimit) spend(n int64) {
	if c, ok := s.ledger.(*plainCascade); ok {
		first, second := s.bucketsOf(c)
		if !first.fits(s.at, n) {
			second.spend(n)
			return
		}
		s.ledger, s.p = first.ledger, first.p
	}
	regular := min(n, s.regularRemaining())
	if s.extraMessages(s.at) == 0 {
		regular = n
	}
	for i := range s.grants {
		if g := &s.grants[i]; g.limit == s.Name && g.until > s.at {
			drawn := min(g.left, n-regular)
			g.left -= drawn
			n -= drawn
		}
	}
	s.plainRow.grants = slices.DeleteFunc(s.grants, func(g plainGrant) bool { return g.left == 0 || g.until <= s.at })
	if n > 0 {
		s.ledger.spend(s.at, n, s.p)
	}
}

// firstFit returns the first time, not before at, at which n fit all these limits, or Never if
// there is no such time. Without further messages, the room only grows. The exceptions are the
// beginning of a day, which may have a smaller allowance, and the end of a grant.
func firstFit(usedLimits []usedLimit, at, n int64) int64 {
	return firstTime(usedLimits, at, func(t int64) bool {
		return !slices.ContainsFunc(usedLimits, func(s usedLimit) bool { return !s.fits(t, n) })
	})
}

// firstTime is firstFit for anything that depends on the room in these limits.
func firstTime(usedLimits []usedLimit, at int64, fit func(t int64) bool) int64 {
	for _, end := range append(turningPoints(usedLimits, at), farFuture(usedLimits, at)) {
		if end > at && fit(end-1) {
			return at + int64(sort.Search(int(end-1-at), func(i int) bool { return fit(at + int64(i)) }))
		}
		at = max(at, end)
	}
	return Never
}

// farFuture returns a time at which all usage has expired.
func farFuture(usedLimits []usedLimit, at int64) int64 {
	for _, s := range usedLimits {
		at = max(at, s.at)
	}
	return at + 400*aDay
}

func turningPoints(usedLimits []usedLimit, at int64) (turns []int64) {
	for _, s := range usedLimits {
		if days, ok := s.ledger.(*plainDaily); ok {
			t := max(at, s.at)
			for range 4 { // the rest of a period, a transitional one, the rest of one, a whole one
				t = days.day(t, s.p).end
				turns = append(turns, t)
			}
		}
		for _, g := range s.grants {
			turns = append(turns, g.until)
		}
	}
	slices.Sort(turns)
	return turns
}

// longestWait returns the limit for which n wait longest. If several limits have the same wait, it
// returns the first in the policy. During the wait, grants may lapse and a smaller day may begin,
// so longestWait checks all limits again at the end.
func longestWait(limits []usedLimit, at, n int64) (limit usedLimit, found bool) {
	until := at
	for _, s := range limits {
		if fits := firstFit([]usedLimit{s}, at, n); fits > until {
			limit, until, found = s, fits, true
		}
	}
	if found && until != Never {
		if again, found := longestWait(limits, until, n); found {
			return again, true
		}
	}
	return limit, found
}
