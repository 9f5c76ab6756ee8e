package persist

import (
	"context"
	"math"

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

// LastEntries returns the newest n entries of messages of the user in the channel that were throttled, as Entry does, the newest first. Entries of
// messages that were only observed don't count.
func (s *Store) LastEntries(ctx context.Context, channelID, userID string, n int) (entries []journal.Entry, err error) {
	before := chatguard.EntryID(math.MaxInt64)
	for len(entries) < n {
		e, ok, err := s.entryBefore(ctx, channelID, userID, before)
		if err != nil || !ok {
			return entries, err
		}
		entries, before = append(entries, e), e.ID
	}
	return entries, nil
}

// entryBefore returns the user's newest entry of a throttled message with a smaller ID, and reports whether there is one.
func (s *Store) entryBefore(ctx context.Context, channelID, userID string, before chatguard.EntryID) (e journal.Entry, ok bool, err error) {
	e, ok = s.queue.entry(func(e *journal.Entry) bool {
		return e.UserID == userID && e.ChannelID == channelID && e.ID < before && e.Outcome.Result != journal.Observed
	})
	if ok {
		return e, true, nil
	}
	var id chatguard.EntryID
	err = s.db.reader.QueryRowContext(ctx,
		"SELECT ifnull(max(id), 0) FROM journal WHERE channel_id = ? AND user_id = ? AND id < ? AND outcome_result <> ?",
		channelID, userID, int64(before), string(journal.Observed)).Scan(&id)
	if err != nil || id == 0 {
		return e, false, explain(s.db.path, err)
	}
	return s.Entry(ctx, id)
}
