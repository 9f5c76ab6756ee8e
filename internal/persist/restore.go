package persist

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"

	"golang.org/x/sync/errgroup"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/state"
)

// RestoreStats is the result of Restore.
type RestoreStats struct {
	Rows int // rows of state restored
	// Unreadable is how many rows couldn't be read. Such a row stays in the database until its
	// user's state is written again.
	Unreadable int
	// Interrupted is how many journal entries had no outcome yet when the last process ended.
	Interrupted int
	LastEntry   chatguard.EntryID // last journal entry; 0 if there is none
}

// Restore loads into the Guard the state that still counts, and makes the Guard's entry IDs
// continue after the journal's. Call it before the first message. Call it after each channel's
// policy is in force, because it skips rows of limits that a policy doesn't have. It counts and
// logs rows that can't be read. After an error the Guard has only part of the state. Run then
// refuses to write, so that the partial state never replaces the stored state.
//
// With a nil Guard, Restore loads no state. Run can then be called with any Guard whose state isn't
// restored.
//
// Journal entries that are still pending get the result Unknown, because nothing will act on them
// any more, and an action may have been carried out.
func (s *Store) Restore(ctx context.Context, guard *chatguard.Guard) (RestoreStats, error) {
	stats, err := restoreJournal(ctx, s.db)
	if err == nil && guard != nil {
		err = s.restoreState(ctx, guard, &stats)
	}
	if err != nil {
		return stats, err
	}
	if guard != nil {
		guard.State().RestoreEntryID(int64(stats.LastEntry))
	}
	s.restored.Store(true)
	if stats.Interrupted > 0 {
		s.interrupted = stats.LastEntry // Run writes their outcomes
	}
	return stats, nil
}

// restoreState reads rows and restores them in the Guard concurrently, because both take about the
// same time.
func (s *Store) restoreState(ctx context.Context, guard *chatguard.Guard, stats *RestoreStats) error {
	batches := make(chan []state.Row, 4)
	reading, ctx := errgroup.WithContext(ctx)
	reading.Go(func() error {
		defer close(batches)
		return readState(ctx, s.db, batches)
	})
	now := guard.Now()
	var firstUnreadable error
	for rows := range batches {
		for _, row := range rows {
			if err := guard.State().Restore(row, now); err != nil {
				if stats.Unreadable == 0 {
					firstUnreadable = fmt.Errorf("channel %s, user %s, limit %q: %w", row.ChannelID, row.UserID, row.Limit, err)
				}
				stats.Unreadable++
				continue
			}
			stats.Rows++
		}
	}
	if stats.Unreadable > 0 {
		s.opts.Logger.Warn("some state can't be read and starts fresh", slog.Int("rows", stats.Unreadable), slog.Any("first", firstUnreadable))
	}
	return reading.Wait()
}

// restoreJournal reads the last journal ID and the number of interrupted entries.
func restoreJournal(ctx context.Context, db database) (stats RestoreStats, err error) {
	err = db.Query(ctx, func(rows *sql.Rows) error { return rows.Scan(&stats.LastEntry, &stats.Interrupted) },
		"SELECT coalesce(max(id), 0), (SELECT count(*) FROM journal WHERE outcome_result = 'pending') FROM journal")
	return stats, err
}
