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

// Table keeps a row for each user of a channel or of all channels, or a single row for a whole
// channel. It is safe for concurrent use. Create one with NewTable.
type Table struct {
	nameSeed  maphash.Seed                      // hashes non-numeric IDs
	keySeed   uint64                            // hashes keys
	shards    [shardCount]atomic.Pointer[shard] // nil until one of its users is seen
	memory    int64                             // maximum bytes before users are evicted
	users     atomic.Int64                      // users with a row
	names     atomic.Int64                      // bytes of non-numeric IDs
	personals atomic.Int64                      // users with a personal record
	dropped   dropped
	stored    atomic.Bool // a store exists and confirms its writes
	touched   atomic.Bool // some row may be dirty

	// mu is held while a shard is created, and while a change goes from shard to shard.
	mu    sync.Mutex
	set   *Set     // for shards created later
	fresh []uint64 // row of a new user in those shards
}

// NewTable returns an empty table with the limits of the set, whose users take approximately memory
// bytes at most. However small memory is, the table keeps one user in each of its shards.
func NewTable(set *Set, memory int64) *Table {
	t := &Table{nameSeed: maphash.MakeSeed(), set: set, memory: max(1, memory)}
	t.keySeed = maphash.Bytes(t.nameSeed, nil)
	return t
}

// Users returns how many users have a row.
func (t *Table) Users() int { return int(t.users.Load()) }

// HasOwn reports whether any user has a personal record: an override, grants or pardons.
func (t *Table) HasOwn() bool { return t.personals.Load() > 0 }

// place is the location of a user's row. Table.place determines the shard without a lock. find
// completes the place after the shard is locked.
type place struct {
	shard *shard
	key   uint64
	hash  uint64 // hash of the key; unset if user is set
	slot  int
	found bool   // the row exists
	known bool   // the key exists; always true for a numeric ID
	user  string // set if the ID is not numeric
}

// fillPlace fills in p with the shard and the key of a user.
func (t *Table) fillPlace(user string, p *place) {
	if p.key, p.known = numericKey(user); p.known {
		p.hash = hash(p.key, t.keySeed)
		p.shard = t.shard(p.hash)
		return
	}
	p.user = user
	p.shard = t.shard(maphash.String(t.nameSeed, user))
}

// find looks up the row. The shard must be locked.
func (p *place) find() {
	if !p.known || p.key&namedKey != 0 { // a name's number may belong to another name now
		p.key, p.known = p.shard.names.find(p.user)
	}
	p.found = false
	if p.known {
		p.slot, p.found = p.shard.find(p.key)
	}
}

// make adds the missing row, as of the given time.
func (p *place) make(at int64) {
	p.shard.tidy(at)
	p.add()
}

// addIfMissing adds the row if it is missing, as of the given time, so that a store can restore it.
func (p *place) addIfMissing(at int64) {
	if p.found {
		return
	}
	s := p.shard
	users := s.table.users.Load()
	s.many = s.table.hasRoom(2*users, s.width) // a restore adds all users
	if !s.table.hasRoom(users+1, s.width) {
		s.evict(at)
	}
	p.add()
}

func (p *place) add() {
	if !p.known {
		p.key, p.known = p.shard.newKey(p.user), true
	}
	p.slot, p.found = p.shard.admit(p.key), true
}

// open prepares the account of the row for a decision.
func (p *place) open(a *account, roles uint8) {
	s := p.shard
	a.set, a.row, a.rules = s.set, s.row(p.slot), s.set.rulesFor(roles)
	if hasFlag(a.row, personalFlag) {
		a.personal = s.personal[p.key]
		a.rules = a.personal.rulesFor(s.set, roles)
	}
}

// recordChange records what a decision has changed.
func (p *place) recordChange(a *account) {
	if a.pinned {
		p.shard.pin(a.row)
	}
	if a.changed {
		p.shard.touch(p.slot, a.row)
	}
}

// shard returns the shard for a hash.
func (t *Table) shard(hash uint64) *shard {
	place := &t.shards[hash>>(64-shardBits)]
	if s := place.Load(); s != nil {
		return s
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if place.Load() == nil {
		place.Store(&shard{
			table: t, number: int(hash >> (64 - shardBits)), set: t.set, fresh: t.fresh, slots: slots{width: t.set.width, seed: t.keySeed},
		})
	}
	return place.Load()
}

// forEach calls do with every existing shard and its number.
func (t *Table) forEach(do func(i int, s *shard)) {
	for i := range t.shards {
		if s := t.shards[i].Load(); s != nil {
			do(i, s)
		}
	}
}

// edit calls change with the row of a place. If the row is missing, edit first adds it, as of the
// given time. It then pins the row, so that the store gets the change.
func (p *place) edit(at int64, change func(s *shard, row []uint64)) {
	p.shard.mu.Lock()
	defer p.shard.mu.Unlock()
	if p.find(); !p.found {
		p.make(at)
	}
	row := p.shard.row(p.slot)
	change(p.shard, row)
	p.shard.pin(row)
	p.shard.touch(p.slot, row)
}
