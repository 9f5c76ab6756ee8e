package sqlite

import (
	"context"
	"database/sql"
	"errors"
)

// Write runs change in its own transaction. Database errors name the file, the problem and the fix;
// an error of change is returned unchanged.
func (db *DB) Write(ctx context.Context, change func(*sql.Tx) error) error {
	return db.explainWrite(db.transact(ctx, change))
}

// explainWrite explains the error of a write. If the file can't be written or is damaged,
// explainWrite also closes the connections, so that the next statement opens new ones.
func (db *DB) explainWrite(err error) error {
	err = Explain(db.Path, err)
	if failed := (*Error)(nil); errors.As(err, &failed) && (failed.problem == cantWrite || failed.problem == damaged) {
		db.reconnect()
	}
	return err
}

func (db *DB) transact(ctx context.Context, change func(*sql.Tx) error) error {
	if err := db.place.check(); err != nil {
		return err
	}
	defer db.place.beginWrite()()
	tx, err := db.Writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after Commit
	if err := change(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	return db.place.check() // what is only in a deleted write-ahead log would be lost
}

// Exec runs a statement that can't be in a transaction. The error is the driver's.
func (db *DB) Exec(ctx context.Context, statement string, args ...any) error {
	defer db.place.beginWrite()()
	return db.place.emptyLog(func() error {
		_, err := db.Writer.ExecContext(ctx, statement, args...)
		return err
	})
}
