package persist

import (
	"cmp"
	"slices"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// A record that isn't in the database yet is either pending or being written, and can be found in
// both states.

// visit calls do with the pending records. If do returns false, visit also calls do with the
// records that are being written. More records may be queued in the meantime, because decisions
// don't wait for readers.
func (q *queue) visit(do func(r *records) (found bool)) {
	q.settling.Lock()
	defer q.settling.Unlock()
	q.mu.Lock()
	waiting, writing := q.allRecords(), q.writing
	q.mu.Unlock()
	if !do(&waiting) {
		do(&writing)
	}
}

// entry returns the newest matching entry, with its last outcome.
func (q *queue) entry(wanted func(e *journal.Entry) bool) (e journal.Entry, found bool) {
	var waiting *records
	q.visit(func(r *records) bool {
		waiting = cmp.Or(waiting, r)
		newest := r.newestEntry(wanted)
		if newest == nil {
			return false
		}
		e, found = *newest, true
		if newer := waiting.outcome(e.ID); newer != nil {
			e.Outcome = *newer
		}
		return true
	})
	return e, found
}

// outcome returns the last outcome of an entry, or nil if there is none.
func (q *queue) outcome(id chatguard.EntryID) (last *journal.Outcome) {
	q.visit(func(r *records) bool {
		last = r.outcome(id)
		return last != nil
	})
	return last
}

// entries returns the matching entries with their last outcomes. It also returns the IDs of all
// entries in the queue, matching or not, because the database may have older versions of these
// entries. last has the last outcomes of all entries that have an outcome in the queue.
func (q *queue) entries(wanted func(e *journal.Entry) bool) (
	found []journal.Entry, queued []chatguard.EntryID, last map[chatguard.EntryID]journal.Outcome,
) {
	last = map[chatguard.EntryID]journal.Outcome{}
	q.visit(func(r *records) bool {
		for _, o := range slices.Backward(r.outcomes) {
			if _, newer := last[o.Entry]; !newer {
				last[o.Entry] = o
			}
		}
		for _, waiting := range r.entries {
			queued = append(queued, waiting.ID)
			e := *waiting
			if o, ok := last[e.ID]; ok {
				e.Outcome = o
			}
			if wanted(&e) {
				found = append(found, e)
			}
		}
		return false
	})
	return found, queued, last
}

// matchingMessages returns the pending messages of the timeline for which wanted returns true.
func (q *queue) matchingMessages(wanted func(m *timelineRow) bool) (found []timelineRow) {
	q.visit(func(r *records) bool {
		for m := range r.messages() {
			if wanted(m) {
				found = append(found, *m)
			}
		}
		return false
	})
	q.texts.replace(found)
	return found
}

// userByLogin returns the ID of the last user to speak under that login.
func (q *queue) userByLogin(channelID, login string) (userID string, found bool) {
	q.visit(func(r *records) bool {
		number := int64(0)
		for m := range r.messages() {
			if m.Login == login && m.ChannelID == channelID && m.number > number {
				userID, number, found = m.UserID, m.number, true
			}
		}
		return found
	})
	return userID, found
}

// newestEntry returns the matching entry with the highest ID, or nil if there is none.
func (r *records) newestEntry(wanted func(e *journal.Entry) bool) (newest *journal.Entry) {
	for _, e := range r.entries {
		if wanted(e) && (newest == nil || e.ID > newest.ID) {
			newest = e
		}
	}
	return newest
}

// outcome returns a copy of the last outcome of an entry, or nil if there is none.
func (r *records) outcome(id chatguard.EntryID) *journal.Outcome {
	for _, o := range slices.Backward(r.outcomes) {
		if o.Entry == id {
			return &o
		}
	}
	return nil
}
