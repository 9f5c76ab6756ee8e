package limits

import (
	"math/bits"
	"sync"
)

// shard is a part of a table under a lock of its own. Rows lie side by side in one slice without pointers, so that the garbage collector
// has nothing to follow; an open-addressing index of row numbers finds them.
type shard struct {
	mu    sync.Mutex
	seed  uint64   // the table's, for keys
	set   *Set     // what the rows are laid out for
	rows  []uint64 // set.width words each
	count int
	index []uint32 // row number + 1, 0 for a free slot; the length is a power of two, or 0
	dirty []uint32 // numbers of rows that a store has not confirmed
	names names    // of users whose IDs are no plain numbers
}

// row returns the words of a row. They move when a row is added.
func (s *shard) row(number uint32) []uint64 {
	start := int(number) * s.set.width
	return s.rows[start : start+s.set.width : start+s.set.width]
}

// rowOf returns the number of the user's row, which is added where it was missing.
func (s *shard) rowOf(user string, key uint64, known bool) uint32 {
	if !known {
		key = s.names.add(user)
	} else if number, ok := s.find(key); ok {
		return number
	}
	return s.add(key)
}

// find returns the number of a key's row.
func (s *shard) find(key uint64) (number uint32, ok bool) {
	if len(s.index) == 0 {
		return 0, false
	}
	mask := uint64(len(s.index) - 1)
	for slot := mix(key, s.seed) & mask; s.index[slot] != 0; slot = (slot + 1) & mask {
		number = s.index[slot] - 1
		if s.rows[int(number)*s.set.width+wordUser] == key {
			return number, true
		}
	}
	return 0, false
}

// add gives the key an empty row.
func (s *shard) add(key uint64) uint32 {
	if 4*(s.count+1) > 3*len(s.index) {
		s.grow()
	}
	number := uint32(s.count)
	s.count++
	s.rows = append(s.rows, make([]uint64, s.set.width)...)
	s.row(number)[wordUser] = key
	s.place(number)
	return number
}

func (s *shard) grow() {
	s.index = make([]uint32, max(16, 2*len(s.index)))
	for number := range uint32(s.count) {
		s.place(number)
	}
}

// place puts a row into the index.
func (s *shard) place(number uint32) {
	mask := uint64(len(s.index) - 1)
	slot := mix(s.row(number)[wordUser], s.seed) & mask
	for s.index[slot] != 0 {
		slot = (slot + 1) & mask
	}
	s.index[slot] = number + 1
}

// touch notes that a row has changed.
func (s *shard) touch(number uint32) {
	row := s.row(number)
	row[wordMeta] += 1 << versionShift
	if !isDirty(row) {
		row[wordMeta] |= dirtyFlag
		s.dirty = append(s.dirty, number)
	}
}

// mix spreads a key over all bits, in a way that nobody outside can predict.
func mix(key, seed uint64) uint64 {
	hi, lo := bits.Mul64(key^seed, 0x9E3779B97F4A7C15)
	return hi ^ lo
}
