package limits

import "sync/atomic"

// dropped counts the rows that had to go.
type dropped struct{ fresh, evicted, held atomic.Int64 }

// Dropped is how many rows went: those that were as good as new, and once the table's memory is used up others, of which the last to go (Held) were
// of users who were throttled, struck, granted something or changing their day.
func (t *Table) Dropped() (fresh, evicted, held int64) {
	return t.dropped.fresh.Load(), t.dropped.evicted.Load(), t.dropped.held.Load()
}

// tidied is how many rows are looked at whenever one is added: more than come, so that none stays for long.
const tidied = 4

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
	if !s.table.hasRoom(s.table.users.Load()+1, s.width) {
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
