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

// Reset makes the user like one never seen: nothing is spent, no strike counts, nothing is granted. What the user has of their own stays.
func (t *Table) Reset(user string, now int64) {
	t.amend(user, now, func(s *shard, row []uint64, _ int64) {
		clear(row[headerWords:])
		forgive(row)
		if has(row, personalFlag) {
			s.personal[row[wordUser]].grants = nil
		}
	})
}

// Offence is what a throttled message brought on its author.
type Offence struct {
	ID        int64 // that no other has
	At        int64 // the message's time
	Cost      int64
	Strikes   int  // after it
	NewStrike bool // it gave one
}

// remembered is how many pardons of a user are remembered, so that a second pardon of the same offence does nothing.
const remembered = 64

// Pardon undoes an offence: the strike that it gave, where that still counts, what it spent of the limits that count throttled messages,
// and the note of a penalty that silences. It reports whether it did; the second time it doesn't.
func (t *Table) Pardon(user string, o Offence, now int64) (done bool) {
	t.amend(user, now, func(s *shard, row []uint64, at int64) {
		p := s.personalOf(row)
		if done = !slices.Contains(p.pardoned, o.ID); !done {
			return
		}
		p.pardoned = append(newest(p.pardoned, remembered-1), o.ID)
		if s.set.silencedBy(row, o) {
			row[wordSilentUntil] = 0
		}
		if o.NewStrike && s.set.counts(row, o, at) {
			setStrikeCount(row, strikeCount(row)-1)
		}
		s.refund(row, spent{at: o.At, n: o.Cost}, at, func(r *Rule) bool { return r.countThrottled })
	})
	return done
}

// counts reports whether the strike of an offence is one of those that count now: then each since has come before the one before it lapsed.
func (s *Set) counts(row []uint64, o Offence, now int64) bool {
	count, _ := s.lapse(row, now)
	since, later := int64(row[wordStrikeAt])-o.At, int64(max(1, count-o.Strikes)) // fewer are left where a later one was pardoned
	if count == 0 || since < 0 {
		return false
	}
	forget := int64(s.strikes.Forget)
	return forget == 0 || since/forget < later
}

// silencedBy reports whether it can be the penalty of an offence that silences the user, and not a longer one.
func (s *Set) silencedBy(row []uint64, o Offence) bool {
	if len(s.strikes.Ladder) == 0 {
		return false
	}
	length := s.strikes.Ladder[s.strikes.rung(o.Strikes, o.NewStrike)]
	return length == UntilRetry || int64(row[wordSilentUntil]) <= o.At+length
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
	row[wordMeta] |= pinnedFlag
	p.shard.touch(p.slot, row)
}

// present is when something done to a row now counts: not before the last spending, unless the clock has jumped back.
func present(row []uint64, now int64) int64 {
	if last := int64(row[wordLast]); now >= last-clockJump {
		return max(now, last)
	}
	return now
}
