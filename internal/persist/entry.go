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

// LastEntry returns the newest entry of a message of the user in the channel that was throttled, as Entry does, and reports whether there is
// one. Entries of messages that were only observed don't count.
func (s *Store) LastEntry(ctx context.Context, channelID, userID string) (e journal.Entry, ok bool, err error) {
	e, ok = s.queue.entry(func(e *journal.Entry) bool {
		return e.UserID == userID && e.ChannelID == channelID && e.Outcome.Result != journal.Observed
	})
	if ok {
		return e, true, nil
	}
	var id chatguard.EntryID
	err = s.db.reader.QueryRowContext(ctx, "SELECT ifnull(max(id), 0) FROM journal WHERE channel_id = ? AND user_id = ? AND outcome_result <> ?",
		channelID, userID, string(journal.Observed)).Scan(&id)
	if err != nil || id == 0 {
		return e, false, explain(s.db.path, err)
	}
	return s.Entry(ctx, id)
}
