package limits

import "sync/atomic"

// Dropped counts the rows that some tables drop. Fresh rows equaled a new user's. Evicted rows are
// other rows, dropped because a table's memory was used up. Held rows are evicted rows whose users
// were throttled, had strikes or grants, or were in a transitional period. Unsent rows are
// evicted rows of which TakeUnsent hasn't returned everything.
type Dropped struct{ Fresh, Evicted, Held, Unsent atomic.Int64 }

// tidied is how many rows are checked whenever a row is added. Because the number is greater than
// one, no outdated row stays for long.
const tidied = 4

// tidy makes room for another row. It is called before a row is added, as of the time at.
func (s *shard) tidy(at int64) {
	// One message from a wrong clock must not make every row look old, so the earlier of the last
	// two times counts.
	now := min(at, s.seen)
	s.seen = at
	s.dropFresh(tidied, now-clockJump)
	s.makeRoom(now)
}

// dropFresh checks the next rows, and drops those that have the same effect as a new user's at that
// time.
func (s *shard) dropFresh(rows int, at int64) {
	for range min(rows, s.len()) {
		if slot := s.advance(); s.inUse(slot) && s.isFresh(s.row(slot), at) {
			s.drop(slot)
			s.table.dropped.Fresh.Add(1)
		}
	}
}

// free frees the memory of rows and names that were dropped.
func (s *shard) free() {
	s.shrink()
	if s.names.gone > len(s.names.text)/2 {
		s.moveNames(0)
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
	if int64(row[wordLast]) > at || int64(row[wordSilentUntil]) > at || hasFlag(row, pinnedFlag) || s.set.hasUnsent(row) {
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
