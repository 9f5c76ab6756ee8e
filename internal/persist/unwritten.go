package persist

import (
	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// Whoever asks for a record finds it also where it isn't in the database yet: while it waits, and while it is being written.

// look calls do with the records that wait, and then with those that are being written, unless it has found what it looks for.
func (q *queue) look(do func(r *records) (found bool)) {
	q.settling.Lock()
	defer q.settling.Unlock()
	q.mu.Lock()
	defer q.mu.Unlock()
	if !do(&q.waiting) {
		do(&q.writing)
	}
}

// entry returns the newest entry that is wanted, with its last outcome.
func (q *queue) entry(wanted func(e *journal.Entry) bool) (e journal.Entry, found bool) {
	var newer *journal.Outcome
	q.look(func(r *records) bool {
		newest := r.newest(wanted)
		if newest == nil {
			return false
		}
		e, found = *newest, true
		newer = q.waiting.outcome(e.ID)
		return true
	})
	if newer != nil {
		e.Outcome = *newer
	}
	return e, found
}

// outcome returns the last outcome of an entry; nil without one.
func (q *queue) outcome(id chatguard.EntryID) (last *journal.Outcome) {
	q.look(func(r *records) bool {
		last = r.outcome(id)
		return last != nil
	})
	return last
}

// userByLogin returns the ID of the user who was the last to speak under that login.
func (q *queue) userByLogin(channelID, login string) (userID string, found bool) {
	q.look(func(r *records) bool {
		number := int64(0)
		for i := range r.timeline {
			if m := &r.timeline[i]; m.Login == login && m.ChannelID == channelID && m.number > number {
				userID, number, found = m.UserID, m.number, true
			}
		}
		return found
	})
	return userID, found
}

// newest returns the wanted entry with the highest ID; nil without one.
func (r *records) newest(wanted func(e *journal.Entry) bool) (newest *journal.Entry) {
	for _, e := range r.entries {
		if wanted(e) && (newest == nil || e.ID > newest.ID) {
			newest = e
		}
	}
	return newest
}

// outcome returns a copy of the last outcome of an entry; nil without one.
func (r *records) outcome(id chatguard.EntryID) *journal.Outcome {
	for i := len(r.outcomes) - 1; i >= 0; i-- {
		if r.outcomes[i].Entry == id {
			o := r.outcomes[i]
			return &o
		}
	}
	return nil
}
