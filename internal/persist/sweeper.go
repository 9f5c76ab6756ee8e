package persist

import (
	"context"
	"database/sql"
	"time"

	"github.com/chatguard/chatguard"
)

const (
	// rollAge is the minimum age of messages that are rolled up. Few messages arrive later than
	// that, because the code that receives them corrects their times.
	rollAge = time.Minute
	// rollStep is the maximum number of messages that one transaction rolls up, so that no caller
	// waits long for it.
	rollStep = 5 * sweepStep

	// sweepStep is the maximum number of records of each kind that one transaction deletes, so that
	// no caller waits long for it.
	sweepStep = 1000
	// sweepSteps is the number of these transactions in one turn after which a due flush comes
	// first.
	sweepSteps = 20
	// sweepInterval is the pause after a step that deleted fewer than sweepStep records.
	sweepInterval = time.Minute
)

// sweeper rolls up the timeline and deletes expired records. Only Run uses it.
type sweeper struct {
	db     database
	used   func(context.Context) (bytes int64, err error) // size of a database in memory; nil for others
	opts   *Options
	wanted <-chan struct{} // holds a value if a flush is wanted

	at     time.Time // when to check for expired records again
	idle   idleWalk
	prints map[string]int64 // by channel ID, the time up to which prints have been deleted
}

// sweep rolls up the timeline and deletes expired records after a flush. written is the number of
// rows that the flush wrote. sweep takes one step of each kind, and more steps after a large flush,
// so that it deletes faster than records arrive. It stops early if a caller waits for a flush.
// After sweepSteps steps, it also stops if the next flush is due.
func (s *sweeper) sweep(ctx context.Context, guard *chatguard.Guard, written int) error {
	due, now := time.Now().Add(s.opts.FlushInterval), s.opts.Now()
	for done := 0; done <= 2*written/sweepStep && len(s.wanted) == 0 && (done < sweepSteps || time.Now().Before(due)); done++ {
		if err := s.sweepIdle(ctx, guard); err != nil {
			return err
		}
		if now.Before(s.at) {
			continue
		}
		behind, err := s.rollUp(ctx, guard.Now())
		if err != nil {
			return err
		}
		more, err := s.retire(ctx, guard.Now(), done == 0)
		if err != nil {
			return err
		}
		prints, err := s.expirePrints(ctx, guard.Now())
		if err != nil {
			return err
		}
		if !more && !behind && !prints {
			s.at = now.Add(sweepInterval)
		}
	}
	return nil
}

// rollUp rolls up one step of the timeline, and reports whether there may be more. Only Run writes
// the timeline, so the messages that rollUp has read don't change.
func (s *sweeper) rollUp(ctx context.Context, now time.Time) (more bool, err error) {
	rows, err := queryTimeline(ctx, s.db, timelineChannels+`
		SELECT timeline.channel_id, timeline.at, timeline.number, user_id, login, roles, cost, unspent, display_name, low, kinds
		FROM `+channelsNotRolledUp+` AND timeline.at < $1
		LIMIT $2`, now.Add(-rollAge).UnixNano(), rollStep)
	if err != nil || len(rows) == 0 {
		return false, err
	}
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		if err := writeRollup(ctx, tx, rows); err != nil {
			return err
		}
		last := lastOfChannels(rows)
		return rolledUpInsertion.Write(ctx, tx, len(last), func(args []any, i int) []any {
			return append(args, last[i].ChannelID, last[i].At.UnixNano(), last[i].number)
		})
	})
	return len(rows) == rollStep, err
}

// lastOfChannels returns the last row of each channel; rows must be in table order.
func lastOfChannels(rows []timelineRow) (last []*timelineRow) {
	for i := range rows {
		if i+1 == len(rows) || rows[i+1].ChannelID != rows[i].ChannelID {
			last = append(last, &rows[i])
		}
	}
	return last
}
