package limits

import (
	"cmp"
	"slices"
)

// Offence is what a throttled message brought on its author.
type Offence struct {
	ID        int64 // that no other has; rises with time
	At        int64 // when the message counted
	Counted   int64 // how many it counts as, although it was throttled
	Silence   int64 // for how long, in nanoseconds, its penalty silences the user
	Series    uint8 // of its strike
	NewStrike bool  // it gave one
}

// span is the offences of a user from the first ID to the last.
type span struct{ first, last int64 }

func (s span) has(id int64) bool { return s.first <= id && id <= s.last }

// remembered is how many pardons of a user are remembered, so that a second pardon of the same offence does nothing.
const remembered = 64

// Taken is what a pardon has taken from a user, for Table.Unpardon.
type Taken struct {
	Offences int // that were not pardoned before
	Strikes  int // that counted, and no longer do

	counted  int64 // the most that can have been refunded in one limit
	pardoned []span
	before   []span // the pardons of the user before this one
	rows     []pardonedRow
}

// pardonedRow is a row before and after a pardon. The first of a Taken is the user's own; the others are of the places that the messages drew on beside.
type pardonedRow struct {
	set           *Set
	before, after []uint64
}

// Pardon is PardonAll for one offence, and reports whether there was anything to do.
func (t *Table) Pardon(user string, o Offence, now int64, others ...Place) (done bool) {
	return t.PardonAll(user, []Offence{o}, now, others...) != nil
}

// PardonAll undoes offences: the strikes that they gave, if those still count, what they spent of the limits that count throttled messages, and
// the notes of their penalties, unless another one silences the user for longer. The offences are all of the user's from the first to the last.
// It returns nil if there is nothing to do: the second time there isn't. Others are the places that the messages drew on beside.
func (t *Table) PardonAll(user string, offences []Offence, now int64, others ...Place) *Taken {
	if len(offences) == 0 {
		return nil
	}
	var taken *Taken
	t.amend(user, now, func(s *shard, row []uint64, at int64) {
		p := s.personalOf(row)
		offences = slices.DeleteFunc(slices.Clone(offences), func(o Offence) bool {
			return slices.ContainsFunc(p.pardoned, func(s span) bool { return s.has(o.ID) })
		})
		if len(offences) == 0 {
			return
		}
		slices.SortFunc(offences, func(a, b Offence) int { return cmp.Compare(b.ID, a.ID) }) // the last that was spent is the first to be given back
		taken = &Taken{Offences: len(offences), before: p.pardoned}
		p.pardoned = append(slices.Clone(newest(p.pardoned, remembered-1)), span{offences[len(offences)-1].ID, offences[0].ID})
		taken.pardoned = p.pardoned
		taken.rows = []pardonedRow{s.pardoning(row, func() {
			taken.Strikes = s.forgiveAll(row, offences, at)
			taken.counted = s.refundCounted(row, offences, at)
		})}
	})
	if taken == nil {
		return nil
	}
	for _, other := range others {
		taken.rows = append(taken.rows, pardonedRow{})
		other.Table.amend(other.User, now, func(s *shard, row []uint64, at int64) {
			taken.rows[len(taken.rows)-1] = s.pardoning(row, func() { s.refundCounted(row, offences, at) })
		})
	}
	return taken
}

// pardoning returns what a row is like before and after a change.
func (s *shard) pardoning(row []uint64, change func()) pardonedRow {
	taken := pardonedRow{set: s.set, before: slices.Clone(row)}
	change()
	taken.after = slices.Clone(row)
	return taken
}

// forgiveAll takes the strikes of offences back, and forgets the penalty that one of them drew. It returns how many strikes counted.
func (s *shard) forgiveAll(row []uint64, offences []Offence, at int64) (strikes int) {
	counting, _ := s.set.lapse(row, at)
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

// refundCounted gives back what still counts of offences in the limits that count throttled messages, and returns how many that can be at most.
func (s *shard) refundCounted(row []uint64, offences []Offence, at int64) (counted int64) {
	for _, o := range offences {
		if o.Counted > 0 {
			counted += o.Counted
			s.refund(row, spent{at: o.At, n: o.Counted}, at, func(r *Rule) bool { return r.countThrottled })
		}
	}
	return counted
}

// Unpardon gives a user back what a pardon has taken, as of now, and reports whether it did: not if the limits have changed since, or if anything
// that it would change has. A limit that others share has been spent from since, most likely: there the messages count again, as of now. The others are those
// of the pardon.
func (t *Table) Unpardon(user string, taken *Taken, now int64, others ...Place) (done bool) {
	var p place
	t.place(user, &p)
	if !p.unpardon(taken, now) {
		return false
	}
	for i, other := range others {
		if i+1 < len(taken.rows) && taken.rows[i+1].set != nil {
			other.Table.recount(other.User, &taken.rows[i+1], taken.counted, now)
		}
	}
	return true
}

// unpardon is Unpardon for the user's own row.
func (p *place) unpardon(taken *Taken, now int64) (done bool) {
	s, own := p.shard, &taken.rows[0]
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.find(); s.set != own.set || !p.isAsPardoned(taken) {
		return false
	}
	if !p.found {
		p.revive(own.before, now)
	}
	row := s.row(p.slot)
	own.restore(row, nil) // isAsPardoned: none has changed
	s.personalOf(row).pardoned = taken.before
	s.pin(row)
	s.touch(p.slot, row)
	return true
}

// revive adds a row that was dropped because it was as good as new, as it was before.
func (p *place) revive(before []uint64, now int64) {
	const flags = 1<<strikeShift - 1
	p.make(now)
	row := p.shard.row(p.slot)
	own := row[wordMeta] & flags
	copy(row[wordUser+1:], before[wordUser+1:])
	row[wordMeta] = row[wordMeta]&^flags | own
}

// isAsPardoned reports whether nothing of the place's row has changed that the pardon did.
func (p *place) isAsPardoned(taken *Taken) bool {
	own := &taken.rows[0]
	if !p.found {
		return strikeCount(own.after) == 0 && own.after[wordSilentUntil] == 0
	}
	row := p.shard.row(p.slot)
	if strikeCount(row) != strikeCount(own.after) || seriesOf(row) != seriesOf(own.after) || row[wordStrikeAt] != own.after[wordStrikeAt] ||
		row[wordSilentUntil] != own.after[wordSilentUntil] {
		return false
	}
	if mine := p.own(); mine == nil || !slices.Equal(mine.pardoned, taken.pardoned) {
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

// restore makes the row what it was before the pardon, wherever the pardon has changed it. The limits that have changed since are left to changed, by their place.
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

// recount lets offences count again in limits that others share, as they did before the pardon, or else as of now.
func (t *Table) recount(user string, taken *pardonedRow, counted, now int64) {
	t.amend(user, now, func(s *shard, row []uint64, at int64) {
		if s.set != taken.set {
			return
		}
		taken.restore(row, func(i int) {
			r := &s.rulesOf(row)[i]
			r.charge(r, r.state(row), at, counted)
			row[wordLast] = uint64(max(int64(row[wordLast]), at))
		})
	})
}
