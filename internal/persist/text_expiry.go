package persist

import (
	"context"
	"database/sql"
	"maps"
	"time"

	"github.com/chatguard/chatguard/internal/persist/statement"
)

// printWalk is, by channel ID, the time up to which the prints of the timeline have been deleted.
// There is no index for it, because that would have an entry for each message.
type printWalk map[string]int64

// expirePrints deletes prints that are older than Options.TextRetention, and reports whether there
// may be more. It stays behind the position up to which a channel is rolled up: later messages may
// still be stored before other ones.
func (s *sweeper) expirePrints(ctx context.Context, now time.Time) (more bool, err error) {
	type rolledUp struct {
		channelID string
		at        int64
	}
	channels, err := statement.List(ctx, s.db.Query, func(rows *sql.Rows, c *rolledUp) error { return rows.Scan(&c.channelID, &c.at) }, "SELECT channel_id, at FROM rolled_up")
	if err != nil {
		return false, err
	}
	walked, cutoff, left := printWalk{}, now.Add(-s.opts.TextRetention).UnixNano(), int64(sweepStep)
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		for _, c := range channels {
			from, until := s.prints[c.channelID], min(cutoff, c.at+1)
			if from >= until {
				continue
			}
			deleted, next, err := deletePrints(ctx, tx, c.channelID, from, until)
			if err != nil {
				return err
			}
			walked[c.channelID] = next
			if left -= deleted; next < until || left <= 0 {
				more = true
				return nil
			}
		}
		return nil
	})
	if err == nil {
		if s.prints == nil {
			s.prints = printWalk{}
		}
		maps.Copy(s.prints, walked)
	}
	return more, err
}

// deletePrints deletes about sweepStep prints of a channel's messages between two times. It returns
// how many, and the time from which there may be more.
func deletePrints(ctx context.Context, tx *sql.Tx, channelID string, from, until int64) (deleted, next int64, err error) {
	next = until
	row := tx.QueryRowContext(ctx, "SELECT at FROM timeline WHERE channel_id = ? AND at >= ? AND at < ? AND print IS NOT NULL ORDER BY at LIMIT 1 OFFSET ?",
		channelID, from, until, sweepStep)
	switch err := row.Scan(&next); err {
	case nil:
		next++ // even if more messages have the same time
	case sql.ErrNoRows:
		next = until
	default:
		return 0, 0, err
	}
	result, err := tx.ExecContext(ctx, "UPDATE timeline SET print = NULL WHERE channel_id = ? AND at >= ? AND at < ? AND print IS NOT NULL", channelID, from, next)
	if err != nil {
		return 0, 0, err
	}
	deleted, err = result.RowsAffected()
	return deleted, next, err
}
