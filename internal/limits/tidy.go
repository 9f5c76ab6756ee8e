package limits

import "sync/atomic"

// dropped counts the rows that had to go.
type dropped struct{ fresh, evicted, held atomic.Int64 }

// Dropped is how many rows went: those that were as good as new, and at the table's limit others, of which the last to go (Held) were
// of users who were throttled, struck, granted something or changing their day.
func (t *Table) Dropped() (fresh, evicted, held int64) {
	return t.dropped.fresh.Load(), t.dropped.evicted.Load(), t.dropped.held.Load()
}

const (
	tidied  = 4 // rows looked at whenever one is added: more than come, so that none stays for long
	sampled = 8 // rows of which one has to go
)

// tidy makes sure that there is room for another row. It is called before one is added, as of that time.
func (s *shard) tidy(at int64) {
	// One message from a wrong clock must not make everybody's row look old: the earlier of the last two times counts.
	now := min(at, s.seen)
	s.seen = at
	for range min(tidied, s.len()) {
		if slot := s.advance(); s.inUse(slot) && s.isFresh(s.row(slot), now-clockJump) {
			s.drop(slot)
			s.table.dropped.fresh.Add(1)
		}
	}
	if s.table.users.Load() >= s.table.most {
		s.evict(now)
	}
}

// advance moves the hand on by a slot and returns it.
func (s *shard) advance() int {
	s.hand++
	if s.hand >= s.len() {
		s.hand = 0
	}
	return s.hand
}

// isFresh reports whether a row is as good as that of a user never seen, at that time.
func (s *shard) isFresh(row []uint64, at int64) bool {
	if int64(row[wordLast]) > at || int64(row[wordSilentUntil]) > at || has(row, pinnedFlag) {
		return false
	}
	if has(row, personalFlag) && !s.personal[row[wordUser]].isOver(at) {
		return false
	}
	if strikes, _ := s.set.lapse(row, at); strikes > 0 {
		return false
	}
	rules := s.rulesOf(row)
	for i := range rules {
		if rules[i].forgotten(&rules[i], rules[i].state(row)) > at {
			return false
		}
	}
	return true
}

// evict drops the least recently used row of a sample, one that holds something against its user or for them only where all do. What a user
// was given by name is never dropped.
func (s *shard) evict(at int64) {
	victim, victimHeld, victimUsed := 0, true, int64(Never)
	for looked, sample := 0, 0; looked < s.len() && sample < sampled; looked++ {
		slot := s.advance()
		if !s.inUse(slot) {
			continue
		}
		row := s.row(slot)
		if has(row, personalFlag) && !s.personal[row[wordUser]].asOf(at).isZero() {
			continue
		}
		sample++
		held, used := s.isHeld(row, at), int64(max(row[wordLast], row[wordStrikeAt]))
		if victimHeld && !held || victimHeld == held && used < victimUsed {
			victim, victimHeld, victimUsed = slot, held, used
		}
	}
	if victimUsed == Never {
		return
	}
	s.drop(victim)
	s.table.dropped.evicted.Add(1)
	if victimHeld {
		s.table.dropped.held.Add(1)
	}
}

// isHeld reports whether a row holds more than what its user has spent of an allowance that isn't used up.
func (s *shard) isHeld(row []uint64, at int64) bool {
	if has(row, pinnedFlag|personalFlag) || int64(row[wordSilentUntil]) > at {
		return true
	}
	if strikes, _ := s.set.lapse(row, at); strikes > 0 {
		return true
	}
	rules := s.rulesOf(row)
	for i := range rules {
		r, state := &rules[i], rules[i].state(row)
		if r.level(r, state, max(at, int64(row[wordLast]))).remaining() == 0 {
			return true
		}
		if r.calendar != nil && loadDay(state).unsettled() {
			return true
		}
	}
	return false
}
