package limits

import "slices"

// Forgotten reports whether a stored row no longer has any effect at the given time. This must hold
// for the parameters under which the usage was spent, and also for the current parameters, so that
// a restore would make no difference. Forgotten changes nothing.
func (t *Table) Forgotten(row StateRow, at int64) (bool, error) {
	if !t.HasOwn() {
		t.mu.Lock()
		set := t.set
		t.mu.Unlock()
		return set.Forgotten(row, at)
	}
	var p place
	if !t.lock(row.User, &p) {
		return false, ErrClosed
	}
	defer p.shard.mu.Unlock()
	p.find()
	own := p.personal()
	if row.Limit == givenRow && own != nil && len(own.pardoned) > 0 && !p.shard.isFresh(p.shard.row(p.slot), at) {
		return false, nil // an offence must not be pardoned again
	}
	return p.shard.set.isForgotten(row, at, own)
}

// Forgotten is Table.Forgotten for users without an override, grants or pardons. A nil set has no
// limits, so only the stored parameters matter.
func (s *Set) Forgotten(row StateRow, at int64) (bool, error) { return s.isForgotten(row, at, nil) }

// isForgotten is Forgotten for a user with the personal record own, which may be nil.
func (s *Set) isForgotten(row StateRow, at int64, own *personal) (bool, error) {
	code, data, err := row.open()
	if err != nil {
		return false, err
	}
	if s == nil {
		s = &noLimits
	}
	switch {
	case row.Limit == standingRow && code == standingCode:
		stored, err := readStanding(data)
		lapsed := stored.practice && !s.strikes.isPractice() && stored.struckAt <= at
		return err == nil && (lapsed || stored.isOver(&s.strikes, at)), err
	case row.Limit == givenRow && code == givenCode:
		g, err := readGiven(data)
		return err == nil && g.isOver(at), err
	}
	a, err := algorithmByCode(code)
	if err != nil {
		return false, err
	}
	spent := spendings.Get().(*spending)
	defer spendings.Put(spent)
	i := s.indexBy(row.Limit, a)
	if i < 0 {
		err := spent.read(a, data, nil, nil)
		return err == nil && spent.isOver(at), err
	}
	if err := spent.read(a, data, s.roles, s.rules[i].calendar); err != nil {
		return false, err
	}
	return spent.isOver(at) && spent.isOverUnder(&s.rulesOf(own, nil, spent.roles.bits)[i], at, at), nil
}

// noLimits is the set for a scope in which the policy has no limits.
var noLimits Set

// indexBy returns the index of the limit with that name and algorithm, or -1.
func (s *Set) indexBy(name string, a *algorithm) int {
	return slices.IndexFunc(s.rules, func(r Rule) bool { return r.name == name && r.algorithm.name == a.name })
}

// isOver reports whether none of the usage counts any more at the given time, under the parameters
// under which it was spent.
func (s *spending) isOver(at int64) bool {
	return s.last <= at && s.under.expiry(&s.under, s.state) <= at
}

// isOverUnder converts the usage to the rule, as of the time at. It reports whether none of the
// result counts any more at the time by. It is called only if isOver is true. A conversion hardly
// ever revives usage, but the calendar may change during a day without usage.
func (s *spending) isOverUnder(r *Rule, at, by int64) bool {
	if r.interval == s.under.interval && r.calendar.String() == s.under.calendar.String() {
		return true
	}
	state := make([]uint64, r.end-r.start)
	r.convert(&s.under, r, s.state, state, max(at, s.last))
	return r.expiry(r, state) <= by
}

// isOver reports whether the strikes have lapsed at that time and no silence is in force.
func (s *standing) isOver(rule *Strikes, at int64) bool {
	strikes, _ := rule.countStrikes(s.strikes, s.struckAt, at)
	return strikes == 0 && s.struckAt <= at && s.silentUntil <= at
}

// isOver reports whether no override and no grant is left at that time.
func (g *given) isOver(at int64) bool {
	return g.override().activePart(at).IsZero() && len(g.grants(at)) == 0
}
