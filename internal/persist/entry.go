package persist

import (
	"context"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// Entry returns a journal entry with its last outcome, also where they wait to be written, and reports whether there is one of that ID.
func (s *Store) Entry(ctx context.Context, id chatguard.EntryID) (e journal.Entry, ok bool, err error) {
	if e, ok = s.queue.entry(func(e *journal.Entry) bool { return e.ID == id }); ok {
		return e, true, nil
	}
	waiting := s.queue.outcome(id) // first, because what is stored next is missing then in neither
	entries, err := s.queryEntries(ctx, "SELECT "+entryColumns+" FROM journal WHERE id = ?", int64(id))
	if err != nil || len(entries) == 0 {
		return e, false, err
	}
	if waiting != nil {
		entries[0].Outcome = *waiting
	}
	return entries[0], true, nil
}
