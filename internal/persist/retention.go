package persist

import (
	"context"
	"database/sql"
	"time"
)

const (
	// sweepStep is how many records one turn deletes at most, so that it never holds up the flushes.
	sweepStep = 1000
	// sweepInterval is how long nothing is looked for after a step that found less.
	sweepInterval = time.Minute
)

// sweep deletes journal entries older than Retention and sign-ins that have expired: a step of each, when it is time.
func (s *Store) sweep(ctx context.Context) error {
	now := s.opts.Now()
	if now.Before(s.sweepAt) {
		return nil
	}
	var entries, tokens int64
	err := s.db.write(ctx, func(tx *sql.Tx) (err error) {
		entries, err = deleted(tx.ExecContext(ctx, "DELETE FROM journal WHERE id IN (SELECT id FROM journal WHERE at < ? ORDER BY at LIMIT ?)",
			now.Add(-s.opts.Retention).UnixNano(), sweepStep))
		if err != nil {
			return err
		}
		tokens, err = deleted(tx.ExecContext(ctx, "DELETE FROM token WHERE hash IN (SELECT hash FROM token WHERE expires_at <= ? LIMIT ?)",
			now.UnixNano(), sweepStep))
		return err
	})
	if err == nil && max(entries, tokens) < sweepStep {
		s.sweepAt = now.Add(sweepInterval)
	}
	return err
}

func deleted(result sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
