package persist

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"maps"
	"time"

	"github.com/chatguard/chatguard/internal/persist/statement"
)

// printStep is the maximum number of messages among which one step looks for old prints. After a
// start, it looks at the whole timeline once, and most old messages have none any more.
const printStep = 20 * sweepStep

// printWalk is, by channel ID, the time up to which the prints of the timeline have been deleted.
// There is no index for it, because that would have an entry for each message.
type printWalk map[string]int64

// printRange is a range of times in a channel in which there are old prints.
type printRange struct {
	channelID   string
	from, until int64
}

// expirePrints deletes about sweepStep prints that are older than Options.TextRetention, and
// reports whether there may be more. It stays behind the position up to which a channel is rolled
// up: later messages may still be stored before other ones. It looks for the prints before it
// writes, because other changes wait for a transaction. Only Run writes the timeline, so it doesn't
// change meanwhile.
func (s *sweeper) expirePrints(ctx context.Context, now time.Time) (more bool, err error) {
	type rolledUp struct {
		channelID string
		at        int64
	}
	channels, err := statement.List(ctx, s.db.Query, func(rows *sql.Rows, c *rolledUp) error { return rows.Scan(&c.channelID, &c.at) }, "SELECT channel_id, at FROM rolled_up")
	if err != nil {
		return false, err
	}
	walked, cutoff := printWalk{}, now.Add(-s.opts.TextRetention).UnixNano()
	var old []printRange
	for rows, prints := printStep, sweepStep; len(channels) > 0; channels = channels[1:] {
		c := channels[0]
		r := printRange{c.channelID, s.prints[c.channelID], min(cutoff, c.at+1)}
		if r.from >= r.until {
			continue
		}
		if more = rows <= 0 || prints <= 0; more {
			break
		}
		seen, found, next, err := s.findPrints(ctx, r, rows, prints)
		if err != nil {
			return false, err
		}
		more = next < r.until
		walked[c.channelID], r.until = next, next
		if found > 0 {
			old = append(old, r)
		}
		rows, prints = rows-seen, prints-found
		if more {
			break
		}
	}
	if len(old) > 0 {
		if err := s.deletePrints(ctx, old); err != nil {
			return false, err
		}
	}
	if s.prints == nil {
		s.prints = printWalk{}
	}
	maps.Copy(s.prints, walked)
	return more, nil
}

// findPrints looks for prints in a range, among a maximum number of messages and until it has found
// a number of prints. It returns how many messages it has seen, how many of them have a print, and
// the time from which there may be more.
func (s *sweeper) findPrints(ctx context.Context, r printRange, rows, prints int) (seen, found int, next int64, err error) {
	next = r.until
	err = s.db.EachRow(ctx, 2, "SELECT at, print IS NOT NULL FROM timeline WHERE channel_id = ? AND at >= ? AND at < ? ORDER BY at LIMIT ?",
		[]any{r.channelID, r.from, r.until, int64(rows)}, func(row []driver.Value) error {
			if found == prints {
				return nil
			}
			seen++
			if row[1].(int64) != 0 {
				found++
			}
			if seen == rows || found == prints {
				next = row[0].(int64) + 1 // even if more messages have the same time
			}
			return nil
		})
	return seen, found, next, err
}

// deletePrints deletes the prints in ranges.
func (s *sweeper) deletePrints(ctx context.Context, ranges []printRange) error {
	return s.db.Write(ctx, func(tx *sql.Tx) error {
		for _, r := range ranges {
			_, err := tx.ExecContext(ctx, "UPDATE timeline SET print = NULL WHERE channel_id = ? AND at >= ? AND at < ? AND print IS NOT NULL", r.channelID, r.from, r.until)
			if err != nil {
				return err
			}
		}
		return nil
	})
}
