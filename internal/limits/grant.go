package limits

import (
	"cmp"
	"slices"
)

// grant is a number of extra messages in one limit. They are used when the regular allowance can't
// cover a message.
type grant struct {
	limit string
	left  int64
	until int64
}

// extraMessages returns the number of extra messages in a limit at that time, and when the first of
// them lapse. If there are no extra messages, until is Never.
func (p *personal) extraMessages(limit string, at int64) (left, until int64) {
	until = Never
	for _, g := range p.grants {
		if g.limit == limit && g.until > at {
			left, until = left+g.left, min(until, g.until)
		}
	}
	return left, until
}

// next does the same as Rule.next, but also uses the user's grants. What a cascade's first bucket
// can't cover together with the grants, another bucket must cover alone: a granted message is of
// normal priority.
func (p *personal) next(r *Rule, state []uint64, at, n int64) int64 {
	if r.buckets != nil {
		return min(p.next(r.first(), r.first().state(state), at, n), r.next(r, state, at, n))
	}
	for {
		left, until := p.extraMessages(r.name, at)
		if left >= n {
			return at
		}
		if ready := r.next(r, state, at, n-left); ready < until || until == Never {
			return ready
		}
		at = until
	}
}

// spend does the same as Rule.spend, but also uses the user's grants. It uses the regular allowance
// first, and then the grants in the order in which they lapse. A cascade uses them before its
// second bucket.
func (p *personal) spend(r *Rule, state []uint64, at, n int64) level {
	if r.buckets != nil && p.next(r.first(), r.first().state(state), at, n) > at {
		return r.spend(r, state, at, n)
	}
	if n -= p.draw(r, state, at, n); n == 0 {
		return r.level(r, state, at)
	}
	return r.spend(r, state, at, n)
}

// draw uses grants for the part of n that exceeds the regular allowance, and returns how many
// messages it used.
func (p *personal) draw(r *Rule, state []uint64, at, n int64) (drawn int64) {
	if r.buckets != nil {
		r, state = r.first(), r.first().state(state)
	}
	extra := n - r.level(r, state, at).remaining()
	for i := range p.grants {
		if g := &p.grants[i]; extra > drawn && g.limit == r.name && g.until > at {
			more := min(extra-drawn, g.left)
			g.left, drawn = g.left-more, drawn+more
		}
	}
	p.grants = slices.DeleteFunc(p.grants, func(g grant) bool { return g.left == 0 || g.until <= at })
	return drawn
}

// hasGrant reports whether the user has extra messages left in a limit.
func (p *personal) hasGrant(r *Rule, at int64) bool {
	return slices.ContainsFunc(p.grants, func(g grant) bool { return g.limit == r.name && g.until > at && g.left > 0 })
}

// Grant gives the user n extra messages in the limit of that name ("" means the first daily
// window). It returns when they lapse, which is the end of the limit's current window. If no
// window is open, it is the end of the user's day. If no limit counts by days, it is 24 hours
// later. The error is ErrNoLimit if there is no such limit, or ErrClosed if the table is closed.
func (t *Table) Grant(user, limit string, n, at int64) (until int64, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := t.set.grantIndex(limit)
	if i < 0 {
		return 0, ErrNoLimit
	}
	err = t.edit(user, at, func(a *account) { until = a.grant(i, n, at) })
	return until, err
}

// grantIndex returns the index of the limit that Grant means by that name, or -1 if there is none.
func (s *Set) grantIndex(limit string) int {
	if limit == "" {
		return s.firstWithin(monthUnit)
	}
	return s.indexOf(limit)
}

// grant is Table.Grant for one row and the limit with index i.
func (a *account) grant(i int, n, at int64) (until int64) {
	at = max(at, int64(a.row[wordLast]))
	rules := a.spentRules()
	until = at + secondsPerDay*nanosPerSecond
	for _, place := range []int{i, a.set.firstWithin(dayUnit)} {
		if place < 0 || rules[place].windowEnd == nil {
			continue
		}
		if end := rules[place].windowEnd(&rules[place], rules[place].state(a.row), at); end > 0 {
			until = end
			break
		}
	}
	a.personalRecord().addGrant(grant{limit: rules[i].name, left: n, until: until})
	return until
}

// addGrant adds a grant. The list is sorted by the time at which the grants lapse.
func (p *personal) addGrant(g grant) {
	for i := range p.grants {
		if had := &p.grants[i]; had.limit == g.limit && had.until == g.until {
			had.left += g.left
			return
		}
	}
	p.grants = append(p.grants, g)
	slices.SortStableFunc(p.grants, func(a, b grant) int { return cmp.Compare(a.until, b.until) })
}

// firstWithin returns the index of the first daily window whose unit is at most that long, or -1.
func (s *Set) firstWithin(longest unit) int {
	return slices.IndexFunc(s.rules, func(r Rule) bool { return r.calendar != nil && r.calendar.unit <= longest })
}
