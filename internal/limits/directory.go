package limits

import (
	"runtime"
	"sync/atomic"
)

const (
	shardBits  = 8
	shardCount = 1 << shardBits // maximum number of shards
)

// directory has the shard for each value of a hash's top bits. A shard has 1, 2, 4, … consecutive
// entries (extendible hashing).
type directory [shardCount]atomic.Pointer[shard]

// shard returns the shard for a hash. It may have split or closed before it is locked.
func (t *Table) shard(hash uint64) *shard {
	if d := t.directory.Load(); d != nil {
		return d[hash>>(64-shardBits)].Load()
	}
	return &t.first
}

// forEach calls do with each shard, locked.
func (t *Table) forEach(do func(s *shard)) {
	for s := t.lockFrom(0); s != nil; s = t.lockFrom(s.end()) {
		do(s)
		large := s.count > crowd
		if s.mu.Unlock(); large {
			runtime.Gosched() // let waiters for the shard run first
		}
	}
}

// lockFrom returns the shard of a directory entry, locked. It returns nil after the last entry, and
// if the table is closed.
func (t *Table) lockFrom(entry int) *shard {
	if entry == shardCount {
		return nil
	}
	return t.lockHash(uint64(entry) << (64 - shardBits))
}

// lockHash returns the shard for a hash, locked, or nil if the table is closed.
func (t *Table) lockHash(hash uint64) *shard {
	for !t.closed.Load() {
		if s := t.shard(hash); s.lock() {
			return s
		}
	}
	return nil
}

// lockNext is lockHash for a caller that may already hold a shard: that is this shard, or nil. If
// that is also the shard for the hash, lockNext returns it, still locked. Otherwise lockNext
// unlocks that first.
func (t *Table) lockNext(that *shard, hash uint64) *shard {
	if that != nil {
		if t.shard(hash) == that {
			return that
		}
		that.mu.Unlock()
	}
	return t.lockHash(hash)
}

// end returns the directory entry after the shard's last.
func (s *shard) end() int { return s.number + shardCount>>s.depth }

// crowd is how many rows a shard may have before it splits.
const crowd = 128

// shardState says whether a shard can be used.
type shardState uint8

const (
	open    shardState = iota
	crowded            // the next call of lock splits it
	closed             // the rows have moved to other shards, or the table is closed
)

// lock locks the shard. If the shard is closed, lock returns false and leaves it unlocked.
func (s *shard) lock() bool {
	s.mu.Lock()
	if s.state == open || s.state == crowded && !s.trySplit() {
		return true
	}
	s.mu.Unlock()
	return false
}

// trySplit splits the shard, which must be locked. It does nothing if a change is in progress.
func (s *shard) trySplit() bool {
	if !s.table.mu.TryLock() {
		return false
	}
	defer s.table.mu.Unlock()
	s.split()
	return true
}

// checkCrowd marks the shard to be split if it has too many rows.
func (s *shard) checkCrowd() {
	if s.count > crowd && s.depth < shardBits && s.table.hasRoom(s.table.users.Load()+spareRows, s.width) {
		s.state = crowded
	}
}

// split moves all rows to two new shards, and closes this one.
func (s *shard) split() {
	lower, upper := s.newHalf(s.number), s.newHalf(s.number+shardCount>>(s.depth+1))
	for slot := range s.len() {
		switch {
		case !s.inUse(slot):
		case hash(identityOf(s.keyOf(slot)))>>(shardBottom-s.depth)&1 == 0:
			lower.adopt(s, slot)
		default:
			upper.adopt(s, slot)
		}
	}
	lower.checkCrowd() // a change may have delayed this split
	upper.checkCrowd()
	s.table.enter(lower, upper)
	s.close()
}

// shardBottom is the position of a hash's top bit.
const shardBottom = 63

// newHalf returns an empty shard for half of the shard's rows.
func (s *shard) newHalf(number int) *shard {
	half := &shard{table: s.table, number: number, depth: s.depth + 1, set: s.set, version: s.version, seen: s.seen}
	half.width = s.width
	half.makeUnsent()
	half.layOut(half.nextSize(s.count / 2 * 10 / fullTenths))
	return half
}

// adopt copies a row of another shard.
func (s *shard) adopt(from *shard, slot int) {
	row := from.row(slot)
	key := row[wordUser]
	if key&namedKey != 0 {
		key = s.addName(identityOf(key), from.names.id(key))
	}
	to := s.add(key)
	copy(s.row(to)[wordUser+1:], row[wordUser+1:])
	if from.dirty.has(slot) {
		s.dirty.set(to)
	}
	if from.unsent.has(slot) {
		s.unsent.set(to)
	}
	if hasFlag(row, personalFlag) {
		s.setPersonal(key, from.personal[row[wordUser]])
	}
}

// enter puts two new shards into the directory, in place of the shard that was split.
func (t *Table) enter(lower, upper *shard) {
	d := t.directory.Load()
	if d == nil {
		d = new(directory)
	}
	for i := lower.number; i < lower.end(); i++ {
		d[i].Store(lower)
	}
	for i := upper.number; i < upper.end(); i++ {
		d[i].Store(upper)
	}
	t.directory.Store(d)
	t.shards.Add(1)
}

// close closes the shard for good and frees its memory. The shard must be locked.
func (s *shard) close() {
	s.state = closed
	s.slots, s.names, s.personal = slots{}, names{}, nil
}
