package limits

import "fmt"

// Restore restores a row, as of the time at. It ignores a row of a limit that the set doesn't have,
// or has with another algorithm; that limit starts fresh. It also ignores state that was already
// forgotten a minute before at, because tidy would drop that. It returns ErrClosed if the table is
// closed.
func (t *Table) Restore(row StateRow, at int64) error { return t.restore(row, at, at-clockJump) }

// restore is Restore, but it ignores state that was already forgotten at the time before.
func (t *Table) restore(row StateRow, at, before int64) error {
	code, data, err := row.open()
	if err != nil {
		return err
	}
	if t.isText() && (row.Limit == standingRow || row.Limit == givenRow) {
		return nil // nobody's
	}
	if !t.stored.Load() {
		t.stored.Store(true)
		t.touched.Store(true) // makes Dirty examine a restored table
	}
	if row.Limit == givenRow && code == givenCode {
		return t.restoreGiven(row.User, data, at, before)
	}
	var p place
	if !t.lock(row.User, &p) {
		return ErrClosed
	}
	defer p.shard.mu.Unlock()
	if row.Limit == standingRow && code == standingCode {
		return p.restoreStanding(data, at, before)
	}
	a, err := algorithmByCode(code)
	if err != nil {
		return nil // no limit can continue it
	}
	i := p.shard.set.indexBy(row.Limit, a)
	if i < 0 {
		return nil
	}
	spent := spendings.Get().(*spending)
	defer spendings.Put(spent)
	rule := &p.shard.set.rules[i]
	if err := spent.read(a, data, p.shard.set.roles, rule.calendar); err != nil {
		return fmt.Errorf("limit %q: %w", row.Limit, err)
	}
	p.restore(i, spent, at, before)
	return nil
}

// restore restores the usage of limit i.
func (p *place) restore(i int, spent *spending, at, before int64) {
	p.find()
	s := p.shard
	rule := &s.set.rulesOf(p.personal(), nil, spent.roles.bits)[i]
	if spent.isOver(before) && spent.isOverUnder(rule, at, before) {
		return
	}
	p.addIfMissing(at)
	row := s.row(p.slot)
	row[wordLast] = max(row[wordLast], uint64(spent.last))
	s.set.setRoles(row, spent.roles.bits)
	state := rule.state(row)
	clear(state)
	rule.convert(&spent.under, rule, spent.state, state, max(at, spent.last))
	if !sameState(state, spent.state) {
		row[wordLast] = max(row[wordLast], uint64(at))
		s.touch(p.slot, row)
	}
}

func (p *place) restoreStanding(data []byte, at, before int64) error {
	stored, err := readStanding(data)
	if err != nil {
		return err
	}
	strikes := &p.shard.set.strikes
	if stored.isOver(strikes, before) {
		return nil
	}
	p.find()
	p.addIfMissing(at)
	row := p.shard.row(p.slot)
	row[wordStrikeAt] = uint64(stored.struckAt)
	if stored.practice && !strikes.isPractice() {
		p.shard.touch(p.slot, row) // so that practice strikes lapse in the store, too
		return nil
	}
	setStrikeCount(row, stored.strikes)
	row[wordSilentUntil] = uint64(stored.silentUntil)
	setSeries(row, stored.series)
	return nil
}

// restoreGiven restores the user's override, grants and pardons. It restores pardons even without
// other state, because they may concern another row.
func (t *Table) restoreGiven(user string, data []byte, at, before int64) error {
	g, err := readGiven(data)
	if err != nil {
		return err
	}
	if g.isOver(before) && len(g.pardonedSpans()) == 0 {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.edit(user, at, func(a *account) {
		p := a.personalRecord()
		p.Own, p.rules, p.grants, p.pardoned = g.override().activePart(at), nil, g.grants(at), g.pardonedSpans()
	})
}
