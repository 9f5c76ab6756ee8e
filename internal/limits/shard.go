package limits

import (
	"strings"
	"sync"
)

// shard is a part of a table with its own lock.
type shard struct {
	mu sync.Mutex
	slots
	set *Set // layout of the rows

	number   int // index in the table
	table    *Table
	fresh    []uint64             // row of a new user; nil means zero words
	version  uint32               // counts row changes
	personal map[uint64]*personal // by key
	// names holds the IDs that are not plain numbers.
	names names
	hand  int   // slot that tidy checks next
	seen  int64 // time of the last decision that added a row
}

// admit adds a row for the key, with the state of a user never seen.
func (s *shard) admit(key uint64) (slot int) {
	slot = s.add(key)
	if s.fresh != nil {
		copy(s.row(slot)[wordUser+1:], s.fresh[wordUser+1:])
	}
	setSeries(s.row(slot), uint8(s.version)) // probably differs from the series in an earlier row of the user
	s.table.users.Add(1)
	return slot
}

// drop removes a user.
func (s *shard) drop(slot int) {
	row := s.row(slot)
	key := row[wordUser]
	if hasFlag(row, personalFlag) {
		delete(s.personal, key)
		s.table.personals.Add(-1)
	}
	if key&namedKey != 0 {
		s.table.names.Add(-nameBytes(s.names.id(key)))
		s.names.drop(key)
	}
	s.remove(slot)
	s.table.users.Add(-1)
}

// newKey returns a new key for a non-numeric ID. The ID may be part of a longer text, which isn't
// retained.
func (s *shard) newKey(id string) (key uint64) {
	s.table.names.Add(nameBytes(id))
	return s.names.add(strings.Clone(id))
}

// pin keeps a row until a store has confirmed it, if there is a store. If the row were dropped
// earlier, a restart would restore its previous stored state.
func (s *shard) pin(row []uint64) {
	if s.table.stored.Load() {
		row[wordMeta] |= pinnedFlag
	}
}

// touch records that a row has changed.
func (s *shard) touch(slot int, row []uint64) {
	s.version++
	meta := row[wordMeta]
	row[wordMeta] = meta&(1<<versionShift-1) | uint64(s.version)<<versionShift | dirtyFlag
	if meta&dirtyFlag == 0 {
		s.markDirty(slot)
	}
}

// markDirty ensures that a row is passed to a store.
func (s *shard) markDirty(slot int) {
	s.setDirty(slot)
	if !s.table.touched.Load() {
		// The value is nearly always true already. Writing it each time would make all processors
		// wait for each other.
		s.table.touched.Store(true)
	}
}
