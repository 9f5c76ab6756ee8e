package sqlite

import (
	"context"
	"errors"
	"fmt"
)

// Compact rewrites the database file, so that it contains nothing that was deleted, and empties its
// write-ahead log.
func (db *DB) Compact(ctx context.Context) error {
	if err := db.Exec(ctx, "VACUUM"); err != nil {
		return fmt.Errorf("the rows are deleted, but parts of them may stay in the file until the next user is deleted: %w", Explain(db.Path, err))
	}
	defer db.place.beginWrite()()
	var busy, pages, moved int
	err := db.place.emptyLog(func() error {
		return db.Writer.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
	})
	if err == nil && busy != 0 {
		err = errors.New("it is being read now")
	}
	if err != nil {
		return fmt.Errorf("the rows are deleted, but parts of them may stay in the database's log until no program uses the database: %w", Explain(db.Path, err))
	}
	return nil
}
