package limits

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
)

const (
	shardBits  = 8
	shardCount = 1 << shardBits
)

// Table keeps a row for each user of a channel. It is safe for concurrent use; make one with NewTable.
type Table struct {
	nameSeed  maphash.Seed                      // spreads IDs that are no numbers
	keySeed   uint64                            // spreads keys
	shards    [shardCount]atomic.Pointer[shard] // nil until the first of its users is seen
	calendars calendars

	mu  sync.Mutex // held while a shard is made, and while a Change goes from shard to shard
	set *Set       // for shards still to be made
}

// NewTable returns an empty table whose users are held to the set.
func NewTable(set *Set) *Table {
	t := &Table{nameSeed: maphash.MakeSeed(), set: set}
	t.keySeed = maphash.Bytes(t.nameSeed, nil)
	return t
}

// Judge decides on a message of the user and keeps the consequences. The Set is the one that it was decided by.
func (t *Table) Judge(user string, q Request) (Decision, *Set) {
	s, key, known := t.lock(user)
	defer s.mu.Unlock()
	number := s.rowOf(user, key, known)
	d, changed := s.set.judge(s.row(number), q)
	if changed {
		s.touch(number)
	}
	return d, s.set
}

// Peek returns what Judge would, and changes nothing.
func (t *Table) Peek(user string, q Request) (Decision, *Set) {
	s, key, known := t.lock(user)
	defer s.mu.Unlock()
	row := make([]uint64, s.set.width)
	if known {
		if number, ok := s.find(key); ok {
			copy(row, s.row(number))
		}
	}
	d, _ := s.set.judge(row, q)
	return d, s.set
}

// lock returns the shard of a user, locked, and the user's key there if it is known: a number always is.
func (t *Table) lock(user string) (s *shard, key uint64, known bool) {
	if key, known = numericKey(user); known {
		s = t.shard(mix(key, t.keySeed))
		s.mu.Lock()
		return s, key, true
	}
	s = t.shard(maphash.String(t.nameSeed, user))
	s.mu.Lock()
	key, known = s.names.find(user)
	return s, key, known
}

// shard returns the shard that a hash belongs to.
func (t *Table) shard(hash uint64) *shard {
	place := &t.shards[hash>>(64-shardBits)]
	if s := place.Load(); s != nil {
		return s
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if place.Load() == nil {
		place.Store(&shard{seed: t.keySeed, set: t.set})
	}
	return place.Load()
}

// each calls do with every shard that there is, and its number.
func (t *Table) each(do func(i int, s *shard)) {
	for i := range t.shards {
		if s := t.shards[i].Load(); s != nil {
			do(i, s)
		}
	}
}
