package persist

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/chatguard/chatguard/internal/journal"
)

// timelineRow is one message of the timeline. Its number tells it from others of the same instant.
type timelineRow struct {
	journal.Spoken
	number  int64
	unspent int // how much of the cost wasn't spent
}

// spent is how much of the cost was, as far as it counts.
func (r *timelineRow) spent() int64 { return int64(min(r.Cost, maxCost) - min(r.unspent, maxCost)) }

const timelineColumns = "channel_id, at, number, user_id, login, roles, cost, unspent"

var timelineInsertion = insertion{
	into:     "timeline (" + timelineColumns + ")",
	columns:  8,
	conflict: "DO NOTHING", // it was written by a flush that failed to say so
}

func (r *timelineRow) values(args []any) []any {
	return append(args, r.ChannelID, r.At.UnixNano(), r.number, r.UserID, r.Login, int64(r.Roles), r.Cost, r.unspent)
}

// compareTo compares the row's place in its channel's part of the table with another one.
func (r *timelineRow) compareTo(at, number int64) int {
	return cmp.Or(cmp.Compare(r.At.UnixNano(), at), cmp.Compare(r.number, number))
}

// sortTimeline sorts rows as the table is.
func sortTimeline(rows []timelineRow) {
	slices.SortFunc(rows, func(a, b timelineRow) int {
		return cmp.Or(strings.Compare(a.ChannelID, b.ChannelID), a.At.Compare(b.At), cmp.Compare(a.number, b.number))
	})
}

// writeTimeline stores the rows, which are sorted. Those that come late are rolled up at once, because what is after them is.
func writeTimeline(ctx context.Context, tx *sql.Tx, rows []timelineRow) error {
	late, timely, err := splitLate(ctx, tx, rows)
	if err != nil {
		return err
	}
	if err := writeLate(ctx, tx, late); err != nil {
		return err
	}
	return timelineInsertion.write(ctx, tx, len(timely), func(args []any, i int) []any { return timely[i].values(args) })
}

// splitLate takes those of the rows apart that are not after the place up to which their channel is rolled up.
func splitLate(ctx context.Context, tx *sql.Tx, rows []timelineRow) (late, timely []timelineRow, err error) {
	timely = rows
	for from, next := 0, 0; from < len(rows); from = next {
		next = from + ofOneChannel(rows[from:])
		n, err := rolledUpTo(ctx, tx, rows[from:next])
		if err != nil {
			return nil, nil, err
		}
		if n > 0 {
			i := from - len(late)
			timely, late = slices.Concat(timely[:i], timely[i+n:]), append(late, rows[from:from+n]...)
		}
	}
	return late, timely, nil
}

// ofOneChannel is how many of the rows, which are sorted, are of the first one's channel.
func ofOneChannel(rows []timelineRow) int {
	n := slices.IndexFunc(rows, func(r timelineRow) bool { return r.ChannelID != rows[0].ChannelID })
	if n < 0 {
		return len(rows)
	}
	return n
}

// writeLate stores rows, and rolls those up that weren't there: the others came with a flush that failed to say so, which did the same.
func writeLate(ctx context.Context, tx *sql.Tx, rows []timelineRow) error {
	if len(rows) == 0 {
		return nil
	}
	insert, err := tx.PrepareContext(ctx, timelineInsertion.statement(1))
	if err != nil {
		return err
	}
	defer insert.Close()
	var fresh []timelineRow
	for i := range rows {
		result, err := insert.ExecContext(ctx, rows[i].values(nil)...)
		if err != nil {
			return err
		}
		inserted, err := result.RowsAffected()
		if err != nil {
			return err
		}
		if inserted > 0 {
			fresh = append(fresh, rows[i])
		}
	}
	return writeRollup(ctx, tx, fresh)
}

// queryTimeline returns what a query finds, which asks for timelineColumns.
func (s *Store) queryTimeline(ctx context.Context, query string, args ...any) (list []timelineRow, err error) {
	err = s.db.query(ctx, func(rows *sql.Rows) error {
		var r timelineRow
		var at int64
		err := rows.Scan(&r.ChannelID, &at, &r.number, &r.UserID, &r.Login, &r.Roles, &r.Cost, &r.unspent)
		r.At = timeAt(at)
		list = append(list, r)
		return err
	}, query, args...)
	return list, err
}
