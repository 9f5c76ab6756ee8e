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

// Table keeps a row for each user of a channel, or of all channels, or the one row of a channel itself. It is safe for concurrent use; make
// one with NewTable.
type Table struct {
	nameSeed  maphash.Seed                      // spreads IDs that are no numbers
	keySeed   uint64                            // spreads keys
	shards    [shardCount]atomic.Pointer[shard] // nil until the first of its users is seen
	memory    int64                             // bytes that the users may take, before others have to go
	users     atomic.Int64                      // that have a row
	names     atomic.Int64                      // bytes of those users' IDs that are no numbers
	personals atomic.Int64                      // users with a record of their own
	dropped   dropped
	stored    atomic.Bool // there is a store, which confirms what it has written
	touched   atomic.Bool // some row may be dirty

	mu    sync.Mutex // held while a shard is made, and while a change goes from shard to shard
	set   *Set       // for shards still to be made
	fresh []uint64   // theirs
}

// NewTable returns an empty table whose users are held to the set, and take about so many bytes of memory at most. However few those are, the table
// keeps a user in each of its shards.
func NewTable(set *Set, memory int64) *Table {
	t := &Table{nameSeed: maphash.MakeSeed(), set: set, memory: max(1, memory)}
	t.keySeed = maphash.Bytes(t.nameSeed, nil)
	return t
}

// Users is how many users have a row.
func (t *Table) Users() int { return int(t.users.Load()) }

// HasOwn reports whether any user has been given something of their own.
func (t *Table) HasOwn() bool { return t.personals.Load() > 0 }

// place is where a user's row is to be found: before the shard is locked, and then in it.
type place struct {
	shard *shard
	key   uint64
	hash  uint64 // of the key
	slot  int
	found bool   // the row is there
	known bool   // the key is: a number always is
	user  string // where the ID is no number
}

// place says where to look for a user.
func (t *Table) place(user string, p *place) {
	if p.key, p.known = numericKey(user); p.known {
		p.hash = hash(p.key, t.keySeed)
		p.shard = t.shard(p.hash)
		return
	}
	p.user = user
	p.shard = t.shard(maphash.String(t.nameSeed, user))
}

// find looks for the row. The shard must be locked.
func (p *place) find() {
	if !p.known || p.key&namedKey != 0 { // the number of a name may be another's by now
		p.key, p.known = p.shard.names.find(p.user)
	}
	p.found = false
	if p.known {
		p.slot, p.found = p.shard.find(p.key)
	}
}

// make adds the row that is missing, as of that time.
func (p *place) make(at int64) {
	p.shard.tidy(at)
	p.add()
}

// seek adds the row that a store gives back, if it is missing, as of that time.
func (p *place) seek(at int64) {
	if p.found {
		return
	}
	s := p.shard
	users := s.table.users.Load()
	s.many = s.table.hasRoom(2*users, s.width) // it gives everybody back
	if !s.table.hasRoom(users+1, s.width) {
		s.evict(at)
	}
	p.add()
}

func (p *place) add() {
	if !p.known {
		p.key, p.known = p.shard.name(p.user), true
	}
	p.slot, p.found = p.shard.admit(p.key), true
}

// open prepares the account of the row to be judged.
func (p *place) open(a *account, roles uint8) {
	s := p.shard
	a.set, a.row, a.rules = s.set, s.row(p.slot), s.set.rulesFor(roles)
	if has(a.row, personalFlag) {
		a.personal = s.personal[p.key]
		a.rules = a.personal.rulesFor(s.set, roles)
	}
}

// keep notes what a decision has changed.
func (p *place) keep(a *account) {
	if a.pinned {
		p.shard.pin(a.row)
	}
	if a.changed {
		p.shard.touch(p.slot, a.row)
	}
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
		place.Store(&shard{
			table: t, number: int(hash >> (64 - shardBits)), set: t.set, fresh: t.fresh, slots: slots{width: t.set.width, seed: t.keySeed},
		})
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

// edit lets somebody change the row of a place, which is added where it is missing, as of that time. The store has to learn of it.
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
