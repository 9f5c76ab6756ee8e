package limits

import (
	"cmp"
	"slices"
)

// Offence describes the effects of a throttled message on its author.
type Offence struct {
	ID        int64 // unique; increases with time
	At        int64 // when the message counted
	Counted   int64 // how much of the cost counts although the message was throttled
	Silence   int64 // duration of its penalty's silence, in ns
	Series    uint8 // of its strike
	NewStrike bool  // it gave a strike
	Low       bool  // it was of low priority
}

// span is a range of a user's offences, from the first ID to the last.
type span struct{ first, last int64 }

func (s span) has(id int64) bool { return s.first <= id && id <= s.last }

// remembered is how many pardons of a user are kept, so that a second pardon of the same offence
// does nothing.
const remembered = 64

// Taken is the effect of a pardon, for Table.Unpardon.
type Taken struct {
	Offences int // offences that were not pardoned before
	Strikes  int // strikes that no longer count

	// counted is the maximum that the pardon can have refunded in one limit.
	counted  int64
	pardoned []span
	before   []span // the user's earlier pardons
	rows     []pardonedRow
}

// pardonedRow is a row before and after a pardon. The first one in a Taken is the user's own row;
// the others belong to the additional places that the messages used.
type pardonedRow struct {
	set           *Set
	before, after []uint64
}

// Pardon is PardonAll for one offence, and reports whether there was anything to do.
func (t *Table) Pardon(user string, o Offence, now int64, others ...Place) (done bool) {
	return t.PardonAll(user, []Offence{o}, now, others...) != nil
}

// PardonAll undoes offences. It removes their strikes if those still count, and refunds what they
// spent in the limits that count throttled messages. It clears their silences, unless another
// penalty silences the user for longer. The offences must include every offence of the user from
// the first to the last. PardonAll returns nil if the table is closed, or if there is nothing to
// do, for example on a second call. others are the additional places that the messages used.
func (t *Table) PardonAll(user string, offences []Offence, now int64, others ...Place) (taken *Taken) {
	if len(offences) == 0 {
		return nil
	}
	if len(others) == 0 {
		t.amend(user, func(a *account) { taken, _ = a.pardon(offences, now) })
		return taken
	}
	// The user may have no row, because the messages count only in a limit shared with others.
	if t.edit(user, now, func(a *account) { taken, offences = a.pardon(offences, now) }); taken == nil {
		return nil
	}
	for _, other := range others {
		taken.rows = append(taken.rows, pardonedRow{})
		other.amend(func(a *account) { taken.rows[len(taken.rows)-1] = a.pardonShared(offences, now) })
	}
	return taken
}

// pardon undoes, in the user's own row, the offences that are not pardoned yet. It returns them,
// the last one first. taken is nil if there are none.
func (a *account) pardon(offences []Offence, now int64) (taken *Taken, undone []Offence) {
	at := changeTime(a.row, now)
	p := a.personalRecord()
	undone = slices.DeleteFunc(slices.Clone(offences), func(o Offence) bool {
		return slices.ContainsFunc(p.pardoned, func(s span) bool { return s.has(o.ID) })
	})
	if len(undone) == 0 {
		return nil, nil
	}
	// refund the last offence first
	slices.SortFunc(undone, func(a, b Offence) int { return cmp.Compare(b.ID, a.ID) })
	taken = &Taken{Offences: len(undone), before: p.pardoned}
	p.pardoned = append(slices.Clone(lastN(p.pardoned, remembered-1)), span{undone[len(undone)-1].ID, undone[0].ID})
	taken.pardoned = p.pardoned
	taken.rows = []pardonedRow{a.changeRow(func() {
		taken.Strikes = a.removeStrikes(undone, at)
		taken.counted = a.refundCounted(undone, at)
	})}
	return taken, undone
}

// pardonShared undoes offences in a row that the user's messages use in addition to the user's own.
func (a *account) pardonShared(offences []Offence, now int64) pardonedRow {
	return a.changeRow(func() { a.refundCounted(offences, changeTime(a.row, now)) })
}

// changeRow calls change, which changes the row, and returns the row before and after it.
func (a *account) changeRow(change func()) pardonedRow {
	taken := pardonedRow{set: a.set, before: slices.Clone(a.row)}
	change()
	taken.after = slices.Clone(a.row)
	return taken
}

// removeStrikes removes the strikes of offences, and clears the silence if it came from one of
// them. It returns how many of the strikes still counted.
func (a *account) removeStrikes(offences []Offence, at int64) (strikes int) {
	row := a.row
	counting, _ := a.set.countStrikes(row, at)
	for _, o := range offences {
		if int64(row[wordSilentUntil]) <= o.At+o.Silence {
			row[wordSilentUntil] = 0
		}
		if o.NewStrike && strikes < counting && seriesOf(row) == o.Series {
			strikes++
		}
	}
	if strikes > 0 {
		setStrikeCount(row, counting-strikes)
	}
	return strikes
}

// refundCounted refunds the part of the offences that still counts, in the limits that count
// throttled messages. It returns the maximum that it can have refunded in one limit.
func (a *account) refundCounted(offences []Offence, at int64) (counted int64) {
	for _, o := range offences {
		if o.Counted > 0 {
			counted += o.Counted
			a.giveBack(a.spentRules(), spentMessage{at: o.At, n: o.Counted, normal: !o.Low}, at, func(r *Rule) bool { return r.countThrottled })
		}
	}
	return counted
}

// Unpardon undoes a pardon, as of now, and reports whether it did. It does nothing if the limits
// have changed since, or if any part of the user's state that it would restore has changed. A limit
// shared with others has probably been used since; in such a limit the messages count again as of
// now. others are the places that were passed to PardonAll.
func (t *Table) Unpardon(user string, taken *Taken, now int64, others ...Place) (done bool) {
	var p place
	if !t.lock(user, &p) {
		return false
	}
	done = p.unpardon(taken, now)
	if p.shard.mu.Unlock(); !done {
		return false
	}
	for i, other := range others {
		if i+1 < len(taken.rows) && taken.rows[i+1].set != nil {
			other.amend(func(a *account) { a.recount(&taken.rows[i+1], taken.counted, now) })
		}
	}
	return true
}

// unpardon is Unpardon for the user's own row, whose shard is locked.
func (p *place) unpardon(taken *Taken, now int64) (done bool) {
	if p.find(); !p.found {
		if p.shard.set != taken.rows[0].set || !taken.leavesFresh() {
			return false
		}
		p.make(now)
		p.change(func(a *account) { a.revive(taken) })
		return true
	}
	p.change(func(a *account) { done = a.unpardon(taken) })
	return done
}

// leavesFresh reports whether the pardon left no strikes and no silence, so that the row may have
// been dropped.
func (taken *Taken) leavesFresh() bool {
	after := taken.rows[0].after
	return strikeCount(after) == 0 && after[wordSilentUntil] == 0
}

// revive undoes a pardon in a row that was dropped because it equaled a new user's row.
func (a *account) revive(taken *Taken) {
	const flags = 1<<strikeShift - 1
	own, before := a.row[wordMeta]&flags, taken.rows[0].before
	copy(a.row[wordUser+1:], before[wordUser+1:])
	a.row[wordMeta] = a.row[wordMeta]&^flags | own
	a.personalRecord().pardoned = taken.before
}

// unpardon undoes a pardon in the user's own row, and reports whether it did.
func (a *account) unpardon(taken *Taken) (done bool) {
	if a.set != taken.rows[0].set || !a.isAsPardoned(taken) {
		return false
	}
	taken.rows[0].restore(a.row, nil) // nil: isAsPardoned has checked that no limit has changed
	a.personal.pardoned = taken.before
	return true
}

// isAsPardoned reports whether everything that the pardon changed in the user's own row is still
// unchanged.
func (a *account) isAsPardoned(taken *Taken) bool {
	row, own := a.row, &taken.rows[0]
	if strikeCount(row) != strikeCount(own.after) || seriesOf(row) != seriesOf(own.after) || row[wordStrikeAt] != own.after[wordStrikeAt] ||
		row[wordSilentUntil] != own.after[wordSilentUntil] {
		return false
	}
	if a.personal == nil || !slices.Equal(a.personal.pardoned, taken.pardoned) {
		return false
	}
	for i := range own.set.rules {
		r := &own.set.rules[i]
		if !slices.Equal(r.state(own.before), r.state(own.after)) && !slices.Equal(r.state(row), r.state(own.after)) {
			return false
		}
	}
	return true
}

// restore restores the parts of the row that the pardon changed. It skips a limit whose state has
// changed since, and calls changed with the index of that limit.
func (taken *pardonedRow) restore(row []uint64, changed func(i int)) {
	setStrikeCount(row, strikeCount(taken.before))
	row[wordSilentUntil] = taken.before[wordSilentUntil]
	for i := range taken.set.rules {
		r := &taken.set.rules[i]
		switch before, after := r.state(taken.before), r.state(taken.after); {
		case slices.Equal(before, after):
		case slices.Equal(r.state(row), after):
			copy(r.state(row), before)
		default:
			changed(i)
		}
	}
}

// recount counts offences again in limits that others share. If such a limit hasn't changed,
// recount restores its state from before the pardon; otherwise the offences count as of now.
func (a *account) recount(taken *pardonedRow, counted, now int64) {
	if a.set != taken.set {
		return
	}
	at := changeTime(a.row, now)
	taken.restore(a.row, func(i int) {
		r := &a.spentRules()[i]
		r.charge(r, r.state(a.row), at, counted)
		a.row[wordLast] = uint64(max(int64(a.row[wordLast]), at))
	})
}
