package persist

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/journal"
)

// queue holds pending records of timeline and journal. It is safe for concurrent use; its lock is
// held only briefly.
type queue struct {
	limit int // for all records except those being written
	// wake receives a value when the queue is half full, so that the queue is written before it
	// overflows.
	wake chan struct{}

	texts   texts                                   // set before the first message
	repeats func(chatguard.EntryID) journal.Repeats // set before the first message; nil if they are unknown

	// settling is held while pending or taken records are changed or read. Its holder may lock mu.
	// Decisions on messages never lock settling. They only add records at the end and drop records
	// from the front, which changes no existing record.
	settling sync.Mutex

	mu       sync.Mutex
	waiting  records // pending records except the timeline
	timeline timelineQueue
	writing  records // taken records, which are being written
	woken    bool    // wake was used since the last take
	number   int64   // number of the timeline's last message
	dropped  Dropped
}

// Dropped is how many records were lost because the queue was full. Messages of the timeline are
// dropped first, starting with the oldest of the channel that has the most pending. Then the oldest
// records of the journal are dropped.
type Dropped struct {
	Timeline uint64 `json:"timeline"`
	Journal  uint64 `json:"journal"` // entries and outcomes
}

// records are messages of the timeline, journal entries, and outcomes in the order in which they
// were reported.
type records struct {
	timeline []timelineRow   // sorted; after sortAndMerge
	parts    [][]timelineRow // by channel, sorted by number; before sortAndMerge
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

// messages returns the messages of the timeline, in no particular order.
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

// observe queues the records of a verdict.
func (q *queue) observe(m *chatguard.Message, v *chatguard.Verdict) {
	spoken := journal.TimelineMessage{
		At: v.At, UserID: strings.Clone(m.User.ID), Login: strings.Clone(hostile.ClipName(m.User.Login, journal.MaxName)),
		Roles: slices.Clone(m.User.Roles), Cost: max(m.Cost, 1), MessageKinds: slices.Clone(m.Kinds),
	}
	displayName := ""
	if m.User.DisplayName != m.User.Login {
		displayName = strings.Clone(hostile.ClipName(m.User.DisplayName, journal.MaxName))
	}
	row := timelineRow{TimelineMessage: spoken, unspent: unspentCost(spoken.Cost, v), displayName: displayName, low: isLow(v)}
	q.texts.observe(&row, m, v)
	var entry *journal.Entry
	if v.EntryID != 0 {
		e := journal.NewEntry(*m, *v)
		if q.repeats != nil {
			e.Repeats = q.repeats(e.ID)
		}
		entry = &e
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.number++
	row.number = q.number
	q.timeline.add(q.timeline.rowsOf(m.ChannelID), row)
	if entry != nil {
		q.waiting.entries = append(q.waiting.entries, entry)
	}
	q.trim()
	if !q.woken && q.len() >= q.limit/2 {
		q.woken = true
		wakeUp(q.wake)
	}
}

// isLow reports whether a message passed at low priority.
func isLow(v *chatguard.Verdict) bool { return v.Priority == chatguard.PriorityLow && !v.Throttled() }

// unspentCost returns how much of a message's cost wasn't spent, according to its verdict. If a
// limit that only observes would have throttled the message, the verdict doesn't tell whether other
// limits spent the cost; unspentCost assumes that they didn't.
func unspentCost(cost int, v *chatguard.Verdict) int {
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

// take empties the queue. The caller must write the records, or put them back. Until then they can
// still be read, and they don't change.
func (q *queue) take() records {
	q.settling.Lock()
	defer q.settling.Unlock()
	q.mu.Lock()
	r := q.allRecords()
	q.waiting, q.timeline, q.writing, q.woken = records{}, timelineQueue{}, r, false
	q.mu.Unlock()
	r.sortAndMerge()
	q.texts.replace(r.timeline)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.writing = r
	return r
}

// putBack puts records at the front of the queue again, because they couldn't be written.
func (q *queue) putBack(r records) {
	q.settling.Lock()
	defer q.settling.Unlock()
	slices.SortFunc(r.timeline, compareByNumber) // sortAndMerge has changed the order
	var back timelineQueue
	for _, row := range r.timeline {
		back.add(back.rowsOf(row.ChannelID), row)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.writing = records{}
	q.woken = true // don't retry a failing database early
	q.timeline.prepend(&back)
	w := &q.waiting
	w.entries, w.outcomes = append(r.entries, w.entries...), append(r.outcomes, w.outcomes...)
	q.trim()
}

// confirm drops the taken records, because they are in the database.
func (q *queue) confirm() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.writing = records{}
}

// trim drops the records that exceed the limit.
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

// len returns how many records are pending. The caller must hold mu.
func (q *queue) len() int { return q.timeline.n + q.waiting.len() }

// allRecords returns the pending records. The caller must hold mu.
func (q *queue) allRecords() records {
	return records{parts: q.timeline.messagesByChannel(), entries: q.waiting.entries, outcomes: q.waiting.outcomes}
}

// dropOldest drops up to n items from the front, and returns how many it dropped. The dropped items
// stay unchanged in the slice's array until append replaces the array, because a reader may be
// using them.
func dropOldest[T any](items *[]T, n int) int {
	n = min(n, len(*items))
	if n <= 0 {
		return 0
	}
	*items = (*items)[n:]
	return n
}

// state returns how many records are pending or being written, and how many were dropped so far.
func (q *queue) state() (waiting int, dropped Dropped) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.len() + q.writing.len(), q.dropped
}

// sortAndMerge sorts the records into the order in which they are written. It merges outcomes into
// their entries, so that an entry and its outcome are one row.
func (r *records) sortAndMerge() {
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
