package limits

import (
	"math"
	"sync"
	"sync/atomic"
)

// Budget is memory that several tables share. If it is used up, a new user replaces users of the
// largest table, so users of smaller tables stay. A table of repeated texts counts textShare times
// for that. A Budget is safe for concurrent use. Create one with NewBudget.
type Budget struct {
	max  int64
	used atomic.Int64

	mu      sync.Mutex // guards the fields below, and Table.counted against changes
	tables  []*Table   // those with users
	largest *Table     // of the tables looked at so far; may be nil
	next    int        // index of the table looked at last
}

// DefaultMemory is the default maximum number of bytes for the users of a table.
const DefaultMemory = 512 << 20

const (
	// tableBytes is approximately how much memory a table takes in addition to its rows.
	tableBytes = 512
	// countedChange means that a table's bytes are counted again once more than a sixteenth of them
	// has changed.
	countedChange = 16
	// compared is how many tables findLargest looks at.
	compared = 8
	// givenUp means that giveUp evicts an eighth of a shard's rows.
	givenUp = 8
)

// NewBudget returns a budget of approximately max bytes. If max isn't positive, there is no
// maximum.
func NewBudget(max int64) *Budget {
	if max <= 0 {
		max = math.MaxInt64
	}
	return &Budget{max: max}
}

// Used returns approximately how many bytes all tables take.
func (b *Budget) Used() int64 { return b.used.Load() }

func (b *Budget) isUsedUp() bool { return b != nil && b.used.Load() >= b.max }

// ShareMemory makes the table a part of the budget. Call it before the table is used.
func (t *Table) ShareMemory(b *Budget) { t.budget = b }

// LeaveBudget removes the table from its budget for good.
func (t *Table) LeaveBudget() {
	if b := t.budget; b != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		t.gone = true
		b.count(t, 0)
	}
}

// account counts the bytes that the table takes now, if they have changed enough. Its rows have
// width words.
func (t *Table) account(width int) {
	if t.budget == nil {
		return
	}
	bytes, counted := t.totalBytes(width), t.counted.Load()
	if part := counted / countedChange; bytes > 0 && counted > 0 && bytes-counted <= part && counted-bytes <= part {
		return
	}
	t.budget.mu.Lock()
	defer t.budget.mu.Unlock()
	if !t.gone {
		t.budget.count(t, t.totalBytes(width))
	}
}

// totalBytes returns how many bytes the table takes; 0 if it has no users.
func (t *Table) totalBytes(width int) int64 {
	users := t.users.Load()
	if users == 0 {
		return 0
	}
	return tableBytes + t.bytesFor(users, width)
}

// count sets how many bytes a table takes. The caller holds mu.
func (b *Budget) count(t *Table, bytes int64) {
	before := t.counted.Swap(bytes)
	b.used.Add(bytes - before)
	switch last := len(b.tables); {
	case before == 0 && bytes > 0:
		t.number = last
		b.tables = append(b.tables, t)
	case before > 0 && bytes == 0:
		moved := b.tables[last-1]
		b.tables[t.number], moved.number = moved, t.number
		b.tables[last-1], b.tables = nil, b.tables[:last-1]
		if b.largest == t {
			b.largest = nil
		}
	}
}

// claim returns how large a table is for findLargest.
func (t *Table) claim() int64 {
	if t.isText() {
		return textShare * t.counted.Load()
	}
	return t.counted.Load()
}

// findLargest returns a table that is probably the largest, and at least as large as t. Each call
// looks at some further tables.
func (b *Budget) findLargest(t *Table) *Table {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.largest == nil || t.claim() > b.largest.claim() {
		b.largest = t
	}
	for range min(compared, len(b.tables)) {
		b.next = (b.next + 1) % len(b.tables)
		if t := b.tables[b.next]; t.claim() > b.largest.claim() {
			b.largest = t
		}
	}
	return b.largest
}

// settle evicts users of the largest tables until the budget isn't exceeded. The number of steps is
// bounded: a table with all its shards loses about seven in eight users at most. t is one of the
// budget's tables.
func (b *Budget) settle(t *Table, at int64) {
	for range 2 * givenUp * shardCount {
		if b.used.Load() <= b.max {
			return
		}
		b.findLargest(t).giveUp(at)
	}
}

// giveUp evicts a part of the rows of one of the table's shards, and frees their memory. The next
// call continues with another shard. It does nothing if the shard is locked, because the caller may
// hold locks. A closed shard has no rows.
func (t *Table) giveUp(at int64) {
	s := t.shard(uint64(t.given.Add(1)) << (64 - shardBits))
	if !s.mu.TryLock() {
		return
	}
	defer s.mu.Unlock()
	s.evictTo(s.count-max(1, s.count/givenUp), at)
	if enough := s.nextSize(s.count); enough < s.len() {
		s.layOut(enough)
	}
	t.account(s.width)
}

// makeRoom makes room for another row, as of the time at.
func (s *shard) makeRoom(at int64) {
	t := s.table
	switch {
	case !t.hasRoom(t.users.Load()+1, s.width):
		s.evict(at)
	case t.budget.isUsedUp():
		if largest := t.budget.findLargest(t); largest != t {
			largest.giveUp(at)
		} else {
			s.evict(at)
		}
	}
}
