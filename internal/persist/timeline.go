package persist

import (
	"context"
	"database/sql"
	"slices"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/persist/statement"
)

const timelineColumns = "channel_id, at, number, user_id, login, roles, cost, unspent, display_name, low, kinds"

var timelineInsertion = statement.Insertion{
	Into:     "timeline (" + timelineColumns + ", print)",
	Columns:  12,
	Conflict: "DO NOTHING", // an earlier flush stored it, but returned an error
}

func (r *timelineRow) values(args []any) []any {
	return append(args, r.ChannelID, r.At.UnixNano(), r.number, r.UserID, r.Login, statement.JoinNames(r.Roles), r.Cost, r.unspent, r.displayName, r.low, statement.JoinNames(r.MessageKinds), stored(r.Print, r.mark))
}

// writeTimeline stores sorted rows. It rolls up late rows at once, because newer messages of the
// same channels are already rolled up.
func writeTimeline(ctx context.Context, tx *sql.Tx, rows []timelineRow) error {
	late, timely, err := splitLate(ctx, tx, rows)
	if err != nil {
		return err
	}
	if err := writeLate(ctx, tx, late); err != nil {
		return err
	}
	return timelineInsertion.Write(ctx, tx, len(timely), func(args []any, i int) []any { return timely[i].values(args) })
}

// splitLate separates late rows from timely ones. Late rows are at or before the position up to
// which their channel is rolled up.
func splitLate(ctx context.Context, tx *sql.Tx, rows []timelineRow) (late, timely []timelineRow, err error) {
	timely = rows
	for from, next := 0, 0; from < len(rows); from = next {
		next = from + countFirstChannel(rows[from:])
		n, err := countRolledUp(ctx, tx, rows[from:next])
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

// countFirstChannel returns how many rows at the beginning have the same channel as the first row.
// The rows are sorted.
func countFirstChannel(rows []timelineRow) int {
	n := slices.IndexFunc(rows, func(r timelineRow) bool { return r.ChannelID != rows[0].ChannelID })
	if n < 0 {
		return len(rows)
	}
	return n
}

// writeLate stores rows without their prints, and rolls up those that weren't stored yet. An
// earlier flush that nevertheless returned an error has already stored and rolled up the other
// rows.
func writeLate(ctx context.Context, tx *sql.Tx, rows []timelineRow) error {
	if len(rows) == 0 {
		return nil
	}
	insert, err := tx.PrepareContext(ctx, timelineInsertion.Statement(1))
	if err != nil {
		return err
	}
	defer insert.Close()
	var fresh []timelineRow
	for i := range rows {
		rows[i].Print = chatguard.TextPrint{} // expirePrints may already have been there
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

// queryTimeline returns the result of a query for timelineColumns.
func queryTimeline(ctx context.Context, db database, query string, args ...any) ([]timelineRow, error) {
	return statement.List(ctx, db.Query, func(rows *sql.Rows, r *timelineRow) error {
		return rows.Scan(&r.ChannelID, statement.Time(&r.At), &r.number, &r.UserID, &r.Login, statement.Names(&r.Roles), &r.Cost, &r.unspent, &r.displayName, &r.low, statement.Names(&r.MessageKinds))
	}, query, args...)
}
