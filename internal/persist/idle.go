package persist

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/chatguard/chatguard"
)

const (
	// idleTime is how long state is kept of which nothing counts any more, so that a start with a clock that was ahead deletes nothing.
	idleTime = 24 * time.Hour
	// idleInterval is how long the walk rests at the end of the table.
	idleInterval = time.Hour
)

// idleWalk goes over the table of state, a step a turn, and deletes what no longer counts.
type idleWalk struct {
	after chatguard.StateRow // the last row looked at
	at    time.Time          // when to begin
}

func (s *Store) sweepIdle(ctx context.Context, guard *chatguard.Guard) error {
	w, now := &s.sweeper.idle, s.opts.Now()
	if now.Before(w.at) {
		return nil
	}
	rows, err := s.stateAfter(ctx, w.after, sweepStep)
	if err != nil {
		return err
	}
	var idle []chatguard.StateRow
	for _, row := range rows {
		if forgotten, err := guard.Forgotten(row, guard.Now().Add(-idleTime)); err == nil && forgotten { // what can't be read is for Restore to report
			idle = append(idle, row)
		}
	}
	if err := s.deleteState(ctx, idle); err != nil {
		return err
	}
	if len(rows) < sweepStep {
		*w = idleWalk{at: now.Add(idleInterval)}
		return nil
	}
	w.after = rows[len(rows)-1]
	return nil
}

// stateAfter returns the next rows in the table's order.
func (s *Store) stateAfter(ctx context.Context, after chatguard.StateRow, most int) (found []chatguard.StateRow, err error) {
	rows, err := s.db.reader.QueryContext(ctx, "SELECT "+stateColumns+` FROM state WHERE (channel_id, user_id, limit_name) > (?, ?, ?)
		ORDER BY channel_id, user_id, limit_name LIMIT ?`, after.ChannelID, after.UserID, after.Limit, most)
	if err != nil {
		return nil, explain(s.db.path, err)
	}
	defer func() { err = explain(s.db.path, errors.Join(err, rows.Close())) }()
	for rows.Next() {
		row, err := scanState(rows)
		if err != nil {
			return nil, err
		}
		found = append(found, row)
	}
	return found, rows.Err()
}

func (s *Store) deleteState(ctx context.Context, rows []chatguard.StateRow) error {
	if len(rows) == 0 {
		return nil
	}
	return s.db.write(ctx, func(tx *sql.Tx) error {
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
