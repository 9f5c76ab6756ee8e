package limits

import (
	"strings"
	"sync"
)

// shard is a part of a table under a lock of its own.
type shard struct {
	mu sync.Mutex
	slots
	set *Set // what the rows are laid out for

	number   int // among the table's shards
	table    *Table
	fresh    []uint64             // the row of a user never seen; nil means zero words
	version  uint32               // counts changes of rows
	personal map[uint64]*personal // by key
	names    names                // of users whose IDs are no plain numbers
	hand     int                  // the slot that tidy looks at next
	seen     int64                // the time of the latest decision that added a row
}

// admit gives the key the row of a user never seen.
func (s *shard) admit(key uint64) (slot int) {
	slot = s.add(key)
	if s.fresh != nil {
		copy(s.row(slot)[wordUser+1:], s.fresh[wordUser+1:])
	}
	setSeries(s.row(slot), uint8(s.version)) // hardly the one of somebody's earlier row
	s.table.users.Add(1)
	return slot
}

// drop forgets a user.
func (s *shard) drop(slot int) {
	row := s.row(slot)
	key := row[wordUser]
	if has(row, personalFlag) {
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

// name gives an ID that is no number a key. The ID may be part of a longer text, which isn't kept.
func (s *shard) name(id string) (key uint64) {
	s.table.names.Add(nameBytes(id))
	return s.names.add(strings.Clone(id))
}

// pin keeps a row until a store has confirmed it, where there is one: a row that was dropped instead would come back as it was stored last.
func (s *shard) pin(row []uint64) {
	if s.table.stored.Load() {
		row[wordMeta] |= pinnedFlag
	}
}

// touch notes that a row has changed.
func (s *shard) touch(slot int, row []uint64) {
	s.version++
	meta := row[wordMeta]
	row[wordMeta] = meta&(1<<versionShift-1) | uint64(s.version)<<versionShift | dirtyFlag
	if meta&dirtyFlag == 0 {
		s.markDirty(slot)
	}
}

// markDirty sees to it that a row is given to a store.
func (s *shard) markDirty(slot int) {
	s.setDirty(slot)
	if !s.table.touched.Load() { // nearly always it is: writing it each time would make everybody wait for each other
		s.table.touched.Store(true)
	}
}
