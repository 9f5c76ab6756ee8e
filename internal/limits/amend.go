package limits

import "slices"

// Refund gives back what still counts of n that the user spent at that time, in all limits, and never more than makes the user's state as
// good as new. now is the present.
func (t *Table) Refund(user string, spentAt, n, now int64) {
	t.amend(user, now, func(s *shard, row []uint64, at int64) {
		s.refund(row, spent{at: spentAt, n: n}, at, func(*Rule) bool { return true })
	})
}

func (s *shard) refund(row []uint64, back spent, at int64, applies func(*Rule) bool) {
	back.latest = int64(row[wordLast]) <= back.at
	rules := s.rulesOf(row)
	for i := range rules {
		if r := &rules[i]; applies(r) {
			r.refund(r, r.state(row), back, at)
		}
	}
}

// Reset makes the user like one never seen: nothing is spent, no strike counts, nothing is granted. What the user has of their own stays, and
// a change of calendars that is under way goes on.
func (t *Table) Reset(user string, now int64) {
	t.amend(user, now, func(s *shard, row []uint64, _ int64) {
		rules := s.rulesOf(row)
		for i := range rules {
			r := &rules[i]
			state := r.state(row)
			if r.calendar != nil && loadDay(state).unsettled() {
				loadDay(state).emptied().store(state)
			} else {
				clear(state)
			}
		}
		forgive(row)
		if has(row, personalFlag) {
			s.personal[row[wordUser]].grants = nil
		}
	})
}

// Offence is what a throttled message brought on its author.
type Offence struct {
	ID        int64 // that no other has
	At        int64 // when the message counted
	Counted   int64 // how many it counts as, although it was throttled
	Silence   int64 // for how long, in nanoseconds, its penalty silences the user
	Series    uint8 // of its strike
	NewStrike bool  // it gave one
}

// remembered is how many pardons of a user are remembered, so that a second pardon of the same offence does nothing.
const remembered = 64

// Pardon undoes an offence: the strike that it gave, where that still counts, what it spent of the limits that count throttled messages,
// and the note of its penalty, where none silences the user for longer. It reports whether it did; the second time it doesn't. Others are
// the places that the message drew on beside.
func (t *Table) Pardon(user string, o Offence, now int64, others ...Place) (done bool) {
	t.amend(user, now, func(s *shard, row []uint64, at int64) {
		p := s.personalOf(row)
		if done = !slices.Contains(p.pardoned, o.ID); !done {
			return
		}
		p.pardoned = append(newest(p.pardoned, remembered-1), o.ID)
		if int64(row[wordSilentUntil]) <= o.At+o.Silence {
			row[wordSilentUntil] = 0
		}
		if count, _ := s.set.lapse(row, at); o.NewStrike && count > 0 && seriesOf(row) == o.Series {
			setStrikeCount(row, count-1)
		}
		s.refundCounted(row, o, at)
	})
	if !done {
		return false
	}
	for _, other := range others {
		other.Table.amend(other.User, now, func(s *shard, row []uint64, at int64) { s.refundCounted(row, o, at) })
	}
	return true
}

func (s *shard) refundCounted(row []uint64, o Offence, at int64) {
	if o.Counted > 0 {
		s.refund(row, spent{at: o.At, n: o.Counted}, at, func(r *Rule) bool { return r.countThrottled })
	}
}

func forgive(row []uint64) {
	setStrikeCount(row, 0)
	row[wordStrikeAt], row[wordSilentUntil] = 0, 0
}

// amend lets somebody change the row of a user who has one, as of now, or the last spending where that is later.
func (t *Table) amend(user string, now int64, change func(s *shard, row []uint64, at int64)) {
	var p place
	t.place(user, &p)
	p.shard.mu.Lock()
	defer p.shard.mu.Unlock()
	if p.find(); !p.found {
		return
	}
	row := p.shard.row(p.slot)
	change(p.shard, row, present(row, now))
	p.shard.pin(row)
	p.shard.touch(p.slot, row)
}

// present is when something done to a row now counts: not before the last spending, unless the clock has jumped back.
func present(row []uint64, now int64) int64 {
	if last := int64(row[wordLast]); now >= last-clockJump {
		return max(now, last)
	}
	return now
}
