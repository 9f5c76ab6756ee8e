package limits

import "sync/atomic"

// dropped counts the rows that were dropped.
type dropped struct{ fresh, evicted, held atomic.Int64 }

// Dropped returns how many rows were dropped. fresh is the number of rows that equaled a new
// user's. evicted is the number of other rows, dropped because the table's memory was used up. held
// is the number of evicted rows whose users were throttled, had strikes or grants, or had a
// calendar change in progress.
func (t *Table) Dropped() (fresh, evicted, held int64) {
	return t.dropped.fresh.Load(), t.dropped.evicted.Load(), t.dropped.held.Load()
}

// tidied is how many rows are checked whenever a row is added. Because the number is greater than
// one, no outdated row stays for long.
const tidied = 4

// tidy makes room for another row. It is called before a row is added, as of the time at.
func (s *shard) tidy(at int64) {
	// One message from a wrong clock must not make every row look old, so the earlier of the last
	// two times counts.
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

// advance moves the hand to the next slot and returns that slot.
func (s *shard) advance() int {
	s.hand++
	if s.hand >= s.len() {
		s.hand = 0
	}
	return s.hand
}

// isFresh reports whether a row has the same effect as a new user's at that time.
func (s *shard) isFresh(row []uint64, at int64) bool {
	if int64(row[wordLast]) > at || int64(row[wordSilentUntil]) > at || hasFlag(row, pinnedFlag) {
		return false
	}
	if hasFlag(row, personalFlag) && !s.personal[row[wordUser]].isOver(at) {
		return false
	}
	if strikes, _ := s.set.countStrikes(row, at); strikes > 0 {
		return false
	}
	rules := s.rulesOf(row)
	for i := range rules {
		if rules[i].expiry(&rules[i], rules[i].state(row)) > at {
			return false
		}
	}
	return true
}
