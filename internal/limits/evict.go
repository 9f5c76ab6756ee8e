package limits

import (
	"cmp"
	"slices"
)

// sampled is how many rows are examined to choose one to evict.
const sampled = 8

// victim is a row that may be evicted.
type victim struct {
	slot int
	held bool  // see isHeld
	used int64 // when it was last used
}

// compare orders rows for eviction: rows that are not held come first, and then the rows that were
// used least recently.
func (v victim) compare(other victim) int {
	switch {
	case v.held && !other.held:
		return 1
	case !v.held && other.held:
		return -1
	}
	return cmp.Compare(v.used, other.used)
}

// victim returns the row of a slot as a candidate at that time. ok is false if the slot is unused,
// or if its user has an override.
func (s *shard) victim(slot int, at int64) (v victim, ok bool) {
	if !s.inUse(slot) {
		return v, false
	}
	row := s.row(slot)
	if hasFlag(row, personalFlag) && !s.personal[row[wordUser]].activePart(at).IsZero() {
		return v, false
	}
	return victim{slot, s.isHeld(row, at), int64(max(row[wordLast], row[wordStrikeAt]))}, true
}

// evict takes a sample of rows and drops the one that compare puts first.
func (s *shard) evict(at int64) {
	var first victim
	sample := 0
	for looked := 0; looked < s.len() && sample < sampled; looked++ {
		v, ok := s.victim(s.advance(), at)
		if !ok {
			continue
		}
		if sample == 0 || v.compare(first) < 0 {
			first = v
		}
		sample++
	}
	if sample > 0 {
		s.dropEvicted(first)
	}
}

// evictTo evicts rows until only count are left. It never evicts the row of a user with an
// override.
func (s *shard) evictTo(count int, at int64) {
	if count >= s.count {
		return
	}
	victims := make([]victim, 0, s.count)
	for slot := range s.len() {
		if v, ok := s.victim(slot, at); ok {
			victims = append(victims, v)
		}
	}
	slices.SortFunc(victims, victim.compare)
	for _, v := range victims[:min(len(victims), s.count-count)] {
		s.dropEvicted(v)
	}
}

// dropEvicted drops a row and counts it as evicted.
func (s *shard) dropEvicted(v victim) {
	if s.set.hasUnsent(s.row(v.slot)) {
		s.table.dropped.Unsent.Add(1)
	}
	s.drop(v.slot)
	s.table.dropped.Evicted.Add(1)
	if v.held {
		s.table.dropped.Held.Add(1)
	}
}

// isHeld reports whether a row holds more than a partly used allowance: see Dropped.
func (s *shard) isHeld(row []uint64, at int64) bool {
	if hasFlag(row, pinnedFlag|personalFlag) || int64(row[wordSilentUntil]) > at {
		return true
	}
	if strikes, _ := s.set.countStrikes(row, at); strikes > 0 {
		return true
	}
	rules := s.rulesOf(row)
	for i := range rules {
		r, state := &rules[i], rules[i].state(row)
		if r.level(r, state, max(at, int64(row[wordLast]))).remaining() == 0 {
			return true
		}
		if r.calendar == nil {
			continue
		}
		if d := loadPeriod(state); d.has(partialFlag) && at < d.End*nanosPerSecond {
			return true
		}
	}
	return false
}
