package persist

import (
	"context"
	"database/sql"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/persist/statement"
	"github.com/chatguard/chatguard/state"
)

const (
	// idleTime is how long state is kept after it no longer counts. It protects the state if
	// chatguard starts with a clock that is ahead.
	idleTime = 24 * time.Hour
	// idleInterval is how long the walk pauses at the end of the table.
	idleInterval = time.Hour
)

// idleWalk goes through the state table, one step per turn, and deletes rows that no longer count.
type idleWalk struct {
	after state.Row // the last row checked
	at    time.Time // when to begin the next walk
}

func (s *sweeper) sweepIdle(ctx context.Context, guard *chatguard.Guard) error {
	w, now := &s.idle, s.opts.Now()
	if now.Before(w.at) {
		return nil
	}
	rows, err := stateAfter(ctx, s.db, w.after, sweepStep)
	if err != nil {
		return err
	}
	var idle []state.Row
	for _, row := range rows {
		if forgotten, err := guard.State().Forgotten(row, guard.Now().Add(-idleTime)); err == nil && forgotten {
			// A row that can't be read stays: Restore reports it.
			idle = append(idle, row)
		}
	}
	if err := deleteState(ctx, s.db, idle); err != nil {
		return err
	}
	if len(rows) < sweepStep {
		*w = idleWalk{at: now.Add(idleInterval)}
		return nil
	}
	w.after = rows[len(rows)-1]
	return nil
}

// stateAfter returns up to most rows that follow the row after in table order.
func stateAfter(ctx context.Context, db database, after state.Row, most int) ([]state.Row, error) {
	return statement.List(ctx, db.Query, scanState, "SELECT "+stateColumns+` FROM state WHERE (channel_id, user_id, limit_name) > (?, ?, ?)
		ORDER BY channel_id, user_id, limit_name LIMIT ?`, after.ChannelID, after.UserID, after.Limit, most)
}

func deleteState(ctx context.Context, db database, rows []state.Row) error {
	if len(rows) == 0 {
		return nil
	}
	return db.Write(ctx, func(tx *sql.Tx) error {
		stmt, err := tx.PrepareContext(ctx, "DELETE FROM state WHERE channel_id = ? AND user_id = ? AND limit_name = ?")
		if err != nil {
			return err
		}
		defer stmt.Close()
		for _, row := range rows {
			if _, err := stmt.ExecContext(ctx, row.ChannelID, row.UserID, row.Limit); err != nil {
				return err
			}
		}
		return nil
	})
}
