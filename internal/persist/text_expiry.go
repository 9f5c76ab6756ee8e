package persist

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"maps"
	"slices"
	"time"

	"github.com/chatguard/chatguard/internal/persist/statement"
)

// printStep is the maximum number of messages among which one step looks for old prints. After a
// start, it looks at the whole timeline once, and most old messages have none any more. There is no
// index of prints, because that would have an entry for each message.
const printStep = 20 * sweepStep

// expirePrints deletes about sweepStep prints that are older than Options.TextRetention, and
// reports whether there may be more. It stays behind the position up to which a channel is rolled
// up: later messages may still be stored before other ones. It looks for the prints before it
// writes, because other changes wait for a transaction. Only Run writes the timeline, so it doesn't
// change meanwhile.
func (s *sweeper) expirePrints(ctx context.Context, now time.Time) (more bool, err error) {
	rolledUp, err := statement.Map[int64](ctx, s.db.Query, "SELECT channel_id, at FROM rolled_up")
	if err != nil {
		return false, err
	}
	seen, found, walked := 0, 0, map[string]int64{}
	for _, channelID := range slices.Sorted(maps.Keys(rolledUp)) {
		from, until := s.prints[channelID], min(now.Add(-s.opts.TextRetention).UnixNano(), rolledUp[channelID]+1)
		if from >= until {
			continue
		}
		if more = seen == printStep || found == sweepStep; more {
			break
		}
		next := until
		err := s.db.EachRow(ctx, 2, "SELECT at, print IS NOT NULL FROM timeline WHERE channel_id = ? AND at >= ? AND at < ? ORDER BY at LIMIT ?",
			[]any{channelID, from, until, int64(printStep - seen)}, func(row []driver.Value) error {
				if found == sweepStep {
					return nil
				}
				seen++
				found += int(row[1].(int64))
				if seen == printStep || found == sweepStep {
					next = row[0].(int64) + 1 // even if more messages have the same time
				}
				return nil
			})
		if err != nil {
			return false, err
		}
		walked[channelID] = next
		if more = next < until; more {
			break
		}
	}
	if found > 0 {
		if err := s.deletePrints(ctx, walked); err != nil {
			return false, err
		}
	}
	maps.Copy(s.prints, walked)
	return more, nil
}

// deletePrints deletes prints up to a time, by channel ID.
func (s *sweeper) deletePrints(ctx context.Context, until map[string]int64) error {
	return s.db.Write(ctx, func(tx *sql.Tx) error {
		for channelID, at := range until {
			_, err := tx.ExecContext(ctx, "UPDATE timeline SET print = NULL WHERE channel_id = ? AND at >= ? AND at < ? AND print IS NOT NULL", channelID, s.prints[channelID], at)
			if err != nil {
				return err
			}
		}
		return nil
	})
}
