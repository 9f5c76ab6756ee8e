package persist

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// queue is what waits to be written to timeline and journal. It is safe for concurrent use; its lock is held for moments only.
type queue struct {
	limit int           // of all records together, beside those that are being written
	wake  chan struct{} // gets one when the queue is half full, so that it is written before it overflows

	// settling is held while records change that wait or are being written, and while somebody looks at them; whoever holds it may lock mu. Nobody waits
	// for it who decides on messages: those only add records at the end, and drop some from the front, which changes none.
	settling sync.Mutex

	mu       sync.Mutex
	waiting  records // but for the timeline
	timeline timelineQueue
	writing  records // those that were taken
	woken    bool    // since then
	number   int64   // of the last message of the timeline
	dropped  Dropped
}

// Dropped is how many records were lost because the queue was full: the timeline's go first, the oldest of the channel that has the most
// waiting, then the oldest of the journal.
type Dropped struct {
	Timeline uint64 `json:"timeline"`
	Journal  uint64 `json:"journal"` // entries and outcomes
}

// records are messages of the timeline, journal entries, and outcomes in the order of their reports.
type records struct {
	timeline []timelineRow   // settled
	parts    [][]timelineRow // of channels, each in the order of their numbers: not settled yet
	entries  []*journal.Entry
	outcomes []journal.Outcome
}

func (r *records) len() int {
	n := len(r.timeline) + len(r.entries) + len(r.outcomes)
	for _, part := range r.parts {
		n += len(part)
	}
	return n
}

// messages are those of the timeline, in no order.
func (r *records) messages() iter.Seq[*timelineRow] {
	return func(yield func(*timelineRow) bool) {
		for _, rows := range append(r.parts, r.timeline) {
			for i := range rows {
				if !yield(&rows[i]) {
					return
				}
			}
		}
	}
}

// observe queues what a verdict is remembered by.
func (q *queue) observe(m *chatguard.Message, v *chatguard.Verdict) {
	spoken := journal.Spoken{
		At: v.At, UserID: strings.Clone(m.User.ID), Login: strings.Clone(journal.ClipName(m.User.Login)),
		Roles: m.User.Roles, Cost: max(m.Cost, 1),
	}
	var entry *journal.Entry
	if v.EntryID != 0 {
		e := journal.NewEntry(*m, *v)
		entry = &e
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.number++
	q.timeline.add(q.timeline.of(m.ChannelID), timelineRow{spoken, q.number, unspentBy(spoken.Cost, v)})
	if entry != nil {
		q.waiting.entries = append(q.waiting.entries, entry)
	}
	q.trim()
	if !q.woken && q.len() >= q.limit/2 {
		q.woken = true
		rouse(q.wake)
	}
}

// unspentBy is how much of a message's cost wasn't spent, going by the verdict on it. A limit that only observes doesn't tell whether others took it.
func unspentBy(cost int, v *chatguard.Verdict) int {
	switch {
	case v.Exempt:
		return cost
	case v.Throttled():
		return cost - min(v.Counted, cost)
	}
	return 0
}

func (q *queue) report(o journal.Outcome) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting.outcomes = append(q.waiting.outcomes, o)
	q.trim()
}

// take empties the queue. What has been taken is the caller's: to write, or to put back. Until then it can be looked at, and doesn't change.
func (q *queue) take() records {
	q.settling.Lock()
	defer q.settling.Unlock()
	q.mu.Lock()
	r := q.all()
	q.waiting, q.timeline, q.writing, q.woken = records{}, timelineQueue{}, r, false
	q.mu.Unlock()
	r.settle()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.writing = r
	return r
}

// putBack returns records that couldn't be written to the front of the queue.
func (q *queue) putBack(r records) {
	q.settling.Lock()
	defer q.settling.Unlock()
	slices.SortFunc(r.timeline, byNumber) // settle has sorted it otherwise
	var back timelineQueue
	for _, row := range r.timeline {
		back.add(back.of(row.ChannelID), row)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.writing = records{}
	q.woken = true // a database in trouble is tried at its time
	q.timeline.prepend(&back)
	w := &q.waiting
	w.entries, w.outcomes = append(r.entries, w.entries...), append(r.outcomes, w.outcomes...)
	q.trim()
}

// stored says that the records that were taken are in the database.
func (q *queue) stored() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.writing = records{}
}

// trim drops what is beyond the limit.
func (q *queue) trim() {
	w := &q.waiting
	excess := q.len() - q.limit
	if excess <= 0 {
		return
	}
	n := q.timeline.dropOldest(excess)
	q.dropped.Timeline += uint64(n)
	n = dropOldest(&w.entries, excess-n)
	q.dropped.Journal += uint64(n)
	q.dropped.Journal += uint64(dropOldest(&w.outcomes, q.len()-q.limit))
}

// len is how many records wait, for whoever holds mu.
func (q *queue) len() int { return q.timeline.n + q.waiting.len() }

// all are the records that wait, for whoever holds mu.
func (q *queue) all() records {
	return records{parts: q.timeline.parts(), entries: q.waiting.entries, outcomes: q.waiting.outcomes}
}

// dropOldest drops up to n of the first items, and returns how many. They stay as they are in the array behind the slice until it is outgrown, because
// somebody may be looking at them.
func dropOldest[T any](items *[]T, n int) int {
	n = min(n, len(*items))
	if n <= 0 {
		return 0
	}
	*items = (*items)[n:]
	return n
}

// state returns how many records wait, and how many were dropped so far.
func (q *queue) state() (waiting int, dropped Dropped) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.len() + q.writing.len(), q.dropped
}

// settle sorts the records as they are written, and gives the entries their outcomes, so that an entry and its outcome are one row.
func (r *records) settle() {
	r.timeline, r.parts = slices.Concat(append(r.parts, r.timeline)...), nil
	sortTimeline(r.timeline)
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
