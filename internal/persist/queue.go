package persist

import (
	"cmp"
	"slices"
	"sync"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// queue is what waits to be written to the journal. It is safe for concurrent use; its lock is held for moments only.
type queue struct {
	limit int // of entries, and of outcomes

	mu       sync.Mutex
	entries  fifo[*journal.Entry]
	outcomes fifo[journal.Outcome]
}

func (q *queue) addEntry(e *journal.Entry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.entries.add(q.limit, e)
}

func (q *queue) addOutcome(o journal.Outcome) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.outcomes.add(q.limit, o)
}

// take empties the queue. What has been taken is the caller's: to write, or to put back.
func (q *queue) take() records {
	q.mu.Lock()
	r := records{entries: q.entries.items, outcomes: q.outcomes.items}
	q.entries.items, q.outcomes.items = nil, nil
	q.mu.Unlock()
	r.settle()
	return r
}

// putBack returns records that couldn't be written to the front of the queue.
func (q *queue) putBack(r records) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.entries.putBack(q.limit, r.entries)
	q.outcomes.putBack(q.limit, r.outcomes)
}

// state returns how many records wait, and how many were dropped so far.
func (q *queue) state() (waiting int, dropped uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.entries.items) + len(q.outcomes.items), q.entries.dropped + q.outcomes.dropped
}

// fifo drops its oldest items when there are more than its limit.
type fifo[T any] struct {
	items   []T
	dropped uint64
}

func (f *fifo[T]) add(limit int, item T) {
	f.items = append(f.items, item)
	f.trim(limit)
}

func (f *fifo[T]) putBack(limit int, older []T) {
	f.items = append(older, f.items...)
	f.trim(limit)
}

func (f *fifo[T]) trim(limit int) {
	if excess := len(f.items) - limit; excess > 0 {
		clear(f.items[:excess]) // the array behind the slice lives on until it is outgrown
		f.items = f.items[excess:]
		f.dropped += uint64(excess)
	}
}

// records are journal entries, in the order of their IDs, and outcomes, in the order of their reports.
type records struct {
	entries  []*journal.Entry
	outcomes []journal.Outcome // of entries that are stored already
}

func (r *records) empty() bool { return len(r.entries) == 0 && len(r.outcomes) == 0 }

// settle sorts the entries and gives them their outcomes, so that an entry and its outcome are written as one row.
func (r *records) settle() {
	slices.SortFunc(r.entries, func(a, b *journal.Entry) int { return cmp.Compare(a.ID, b.ID) })
	stored := r.outcomes[:0]
	for _, o := range r.outcomes {
		i, found := slices.BinarySearchFunc(r.entries, o.Entry, func(e *journal.Entry, id chatguard.EntryID) int {
			return cmp.Compare(e.ID, id)
		})
		if found {
			r.entries[i].Outcome = o
		} else {
			stored = append(stored, o)
		}
	}
	r.outcomes = stored
}
