package limits

import (
	"sync"
	"sync/atomic"
)

// Table keeps a row for each user of a channel or of all channels, or a single row for a whole
// channel or for all channels as a whole. It is safe for concurrent use. Create one with NewTable.
//
// A table begins as a single shard, with one lock. A shard with many users splits in two, until
// there are shardCount shards.
type Table struct {
	directory atomic.Pointer[directory] // nil while there is only the first shard
	first     shard                     // empty and closed once it has split
	memory    int64                     // maximum bytes before users are evicted
	users     atomic.Int64              // users with a row
	names     atomic.Int64              // bytes of non-numeric IDs
	personals atomic.Int64              // users with a personal record
	dropped   *Dropped
	shards    atomic.Int32
	prefix    string // of the keys of rows of repeated text; empty if they are of users

	budget  *Budget       // nil if the table shares no memory
	counted atomic.Int64  // bytes that the budget counts
	number  int           // in Budget.tables; guarded by Budget.mu
	gone    bool          // has left the budget; guarded by Budget.mu
	given   atomic.Uint32 // directory entry of the last shard that has given up rows

	stored  atomic.Bool // a store exists and confirms its writes
	touched atomic.Bool // some row may be dirty
	closed  atomic.Bool // set before the shards are closed for good

	// mu is held while a shard splits, while a change goes from shard to shard, and while the table
	// is closed. A goroutine that holds a shard may only try to lock it.
	mu    sync.Mutex
	set   *Set
	notes bool // see CountUnsent
	swept int  // directory index of the next shard to sweep
}

// NewTable returns an empty table with the limits of the set. Its rows take approximately memory
// bytes at most. However small memory is, the table keeps one user in each of its shards. It counts
// the rows that it drops in dropped.
func NewTable(set *Set, memory int64, dropped *Dropped) *Table {
	t := &Table{set: set, prefix: set.prefix, memory: max(1, memory), dropped: dropped}
	t.first.table, t.first.set, t.first.width = t, set, set.width
	t.shards.Store(1)
	return t
}

// Users returns how many users have a row.
func (t *Table) Users() int { return int(t.users.Load()) }

// isText reports whether the rows are of repeated text.
func (t *Table) isText() bool { return t.prefix != "" }

// HasOwn reports whether any user has a personal record: an override, grants or pardons.
func (t *Table) HasOwn() bool { return t.personals.Load() > 0 }

// place is the location of a user's row. fillPlace determines the shard without a lock. find
// completes the place after the shard is locked.
type place struct {
	shard *shard
	key   uint64 // without its position, if the user has a name and no row
	low   uint64 // the rest of the key of a repeated text
	hash  uint64
	slot  int
	found bool   // the row exists
	user  string // set if the ID is not numeric
}

// lock fills in p with the key and the shard of a user, and locks the shard. It returns false if
// the table is closed.
func (t *Table) lock(user string, p *place) (open bool) {
	t.fillPlace(user, p)
	return t.lockPlace(p)
}

// lockPlace is lock for a place that is filled in.
func (t *Table) lockPlace(p *place) (open bool) {
	if p.shard.lock() {
		return true
	}
	s := t.lockHash(p.hash)
	if s != nil {
		p.shard = s
	}
	return s != nil
}

// fillPlace fills in p with the key and the shard of a user.
func (t *Table) fillPlace(user string, p *place) {
	if t.isText() {
		text, _ := HashIn(t.prefix, user)
		t.fillText(text, p)
		return
	}
	var numeric bool
	if p.key, numeric = numericKey(user); !numeric {
		p.user, p.key = user, nameKey(user)
	}
	p.hash = hash(p.key)
	p.shard = t.shard(p.hash)
}

// fillText is fillPlace for a repeated text.
func (t *Table) fillText(text Hash, p *place) {
	p.key, p.low = text.first, text.second
	p.hash = hash(p.key)
	p.shard = t.shard(p.hash)
}

// find looks up the row. The shard must be locked.
func (p *place) find() {
	if p.user == "" {
		p.slot, p.found = p.shard.find(p.key, p.low, p.hash, "")
		return
	}
	p.key = identityOf(p.key) // the name may have moved
	if p.slot, p.found = p.shard.find(p.key, 0, p.hash, p.user); p.found {
		p.key = p.shard.keyOf(p.slot)
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
	s.many = s.table.hasRoom(2*users, s.width) && !s.table.budget.isUsedUp() // a restore adds all users
	s.makeRoom(at)
	p.add()
}

func (p *place) add() {
	if p.user != "" {
		p.key = p.shard.newKey(p.key, p.user)
	}
	p.slot, p.found = p.shard.admit(p.key), true
	if low := p.shard.set.low; low > 0 {
		p.shard.row(p.slot)[low] = p.low
	}
}

// prefetch starts to load the row into the processor's cache. The shard must be locked.
func (p *place) prefetch() {
	if n := p.shard.len(); n > 0 {
		p.shard.prefetch(home(p.hash, n))
	}
}

// openOrNew is open for a row that may be missing. The account of a missing row is that of a new
// user, and is added when something is spent.
func (p *place) openOrNew(a *account, q *Request) {
	if p.found {
		p.open(a, q)
		return
	}
	set := p.shard.set
	a.set, a.row, a.rules, a.missing = set, set.newRow(), set.rulesIn(q.Zone, q.Roles.in(set.roles)), true
}

// open prepares the account of the row for a decision.
func (p *place) open(a *account, q *Request) {
	s := p.shard
	roles := q.Roles.in(s.set.roles)
	a.set, a.row, a.rules = s.set, s.row(p.slot), s.set.rulesIn(q.Zone, roles)
	if hasFlag(a.row, personalFlag) {
		a.personal = s.personal[p.key]
		a.rules = a.personal.rulesIn(s.set, q.Zone, roles)
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

// edit calls change with the account of a user. If the row is missing, edit first adds it, as of
// the given time. It returns ErrClosed if the table is closed.
func (t *Table) edit(user string, at int64, change func(a *account)) error {
	var p place
	if !t.lock(user, &p) {
		return ErrClosed
	}
	defer p.shard.mu.Unlock()
	if p.find(); !p.found {
		p.make(at)
	}
	p.change(change)
	return nil
}

// change calls change with the account of the row, whose shard is locked. It then pins the row, so
// that the store gets the change.
func (p *place) change(change func(a *account)) {
	s, row := p.shard, p.shard.row(p.slot)
	a := account{set: s.set, row: row, personal: p.personal()}
	before := a.personal
	if change(&a); a.personal != before {
		s.setPersonal(row[wordUser], a.personal)
		s.table.personals.Add(1)
	}
	s.pin(row)
	s.touch(p.slot, row)
}
