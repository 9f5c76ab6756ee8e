package limits

import (
	"encoding/binary"
	"math/bits"
	"sync"
)

// shard is a part of a table with its own lock.
type shard struct {
	mu      sync.Mutex
	state   shardState
	depth   uint8  // the shard is for one in 1<<depth hashes
	version uint32 // counts row changes
	slots
	set      *Set // layout of the rows
	table    *Table
	personal map[uint64]*personal // by key
	// names holds the IDs that are not plain numbers.
	names  names
	number int   // first entry in the table's directory
	hand   int   // slot that advance returned last
	seen   int64 // time of the last call of tidy
}

// find returns the slot of a key with that hash. If the user has a name, the key is without its
// position. low is the rest of the key of a repeated text, and 0 for users.
func (s *shard) find(key, low, hash uint64, name string) (slot int, ok bool) {
	n := s.len()
	if n == 0 {
		return 0, false
	}
	tag := uint64(tagOf(hash)) * everyByte
	at := home(hash, n)
	s.prefetch(at) // memory delivers the row while the tags are compared
	for {
		group := binary.LittleEndian.Uint64(s.tags[at:])
		for match := zeroBytes(group ^ tag); match != 0; match &= match - 1 {
			slot := at + bits.TrailingZeros64(match)/8
			if slot >= n {
				slot -= n
			}
			if found := s.keyOf(slot); found == key && (low == 0 || s.row(slot)[s.set.low] == low) || name != "" && identityOf(found) == key && string(s.names.bytes(found)) == name {
				return slot, true
			}
		}
		if zeroBytes(group) != 0 { // one of the slots is empty
			return 0, false
		}
		if at += groupSize; at >= n {
			at -= n
		}
	}
}

// admit adds a row for the key, with the state of a user never seen.
func (s *shard) admit(key uint64) (slot int) {
	slot = s.add(key)
	if s.set.fresh != nil {
		copy(s.row(slot)[wordUser+1:], s.set.fresh[wordUser+1:])
	}
	setSeries(s.row(slot), uint8(s.version)) // probably differs from the series in an earlier row of the user
	s.table.users.Add(1)
	s.table.account(s.width)
	s.checkCrowd()
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
		s.table.names.Add(-nameBytes(s.names.drop(key)))
	}
	s.remove(slot)
	s.table.users.Add(-1)
	s.table.account(s.width)
}

// idOf returns the ID of a row's user, or the key of a repeated text.
func (s *shard) idOf(row []uint64) string {
	if s.set.text != nil {
		return Hash{row[wordUser], row[s.set.low]}.key(s.set.prefix)
	}
	return s.names.id(row[wordUser])
}

// newKey returns the key of a new user with a non-numeric ID.
func (s *shard) newKey(identity uint64, id string) (key uint64) {
	s.table.names.Add(nameBytes(len(id)))
	return s.addName(identity, id)
}

// addName adds a name and returns its key. If there is no room for it, the other names move, and
// their keys change.
func (s *shard) addName(identity uint64, id string) (key uint64) {
	if !s.names.fits(id) {
		s.moveNames(nameSize(len(id)))
	}
	return s.names.add(identity, id)
}

// moveNames moves all names, so that there is room for more bytes.
func (s *shard) moveNames(more int) {
	old, personal := s.names, s.personal
	s.names, s.personal = newNames(len(old.text)-old.gone, more), nil
	for slot := range s.len() {
		if !s.inUse(slot) {
			continue
		}
		row := s.row(slot)
		key := row[wordUser]
		if key&namedKey != 0 {
			row[wordUser] = s.names.add(identityOf(key), old.id(key))
		}
		if hasFlag(row, personalFlag) {
			s.setPersonal(row[wordUser], personal[key])
		}
	}
}

// setPersonal sets the personal record of a key.
func (s *shard) setPersonal(key uint64, p *personal) {
	if s.personal == nil {
		s.personal = map[uint64]*personal{}
	}
	s.personal[key] = p
}

// pin keeps a row from being dropped as fresh until a store has confirmed it, if there is a store.
// If the row were dropped earlier, a restart would restore its previous stored state.
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
	if s.set.unsent > 0 && !s.unsent.has(slot) {
		s.unsent.set(slot)
	}
}

// markDirty ensures that a row is passed to a store.
func (s *shard) markDirty(slot int) {
	s.dirty.set(slot)
	if !s.table.touched.Load() {
		// The value is nearly always true already. Writing it each time would make all processors
		// wait for each other.
		s.table.touched.Store(true)
	}
}
