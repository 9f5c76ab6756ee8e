package persist

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// write runs change in its own transaction. Database errors name the file, the problem and the fix;
// an error of change is returned unchanged.
func (db *database) write(ctx context.Context, change func(*sql.Tx) error) error {
	return db.explainWrite(db.transact(ctx, db.writer, change))
}

// explainWrite explains the error of a write. If the file can't be written or is damaged,
// explainWrite also closes the connections, so that the next statement opens new ones.
func (db *database) explainWrite(err error) error {
	err = Explain(db.path, err)
	if failed := (*databaseError)(nil); errors.As(err, &failed) && (failed.problem == cantWrite || failed.problem == damaged) {
		db.reconnect()
	}
	return err
}

// beginner is a connection pool or a single connection.
type beginner interface {
	BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error)
}

func (db *database) transact(ctx context.Context, writer beginner, change func(*sql.Tx) error) error {
	if err := db.place.check(); err != nil {
		return err
	}
	defer db.place.beginWrite()()
	tx, err := writer.BeginTx(ctx, nil)
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
	return db.place.check() // what a deleted log has would be lost
}

// writeSoon is write with a time limit: it waits at most patience for writers in this process, and
// at most patience again for writers in other processes.
func (db *database) writeSoon(ctx context.Context, patience time.Duration, change func(*sql.Tx) error) error {
	return db.explainWrite(db.transactSoon(ctx, patience, change))
}

// transactSoon runs a transaction with the connection's lock timeout set to patience. The timeout
// is needed because the driver doesn't notice the end of a context while it waits for a lock.
func (db *database) transactSoon(ctx context.Context, patience time.Duration, change func(*sql.Tx) error) error {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := db.writer.Conn(limited)
	if err != nil {
		return err
	}
	defer conn.Close()
	var usual int64
	if err := conn.QueryRowContext(ctx, "PRAGMA busy_timeout").Scan(&usual); err != nil {
		return err
	}
	wait := func(ms int64) error {
		_, err := conn.ExecContext(context.WithoutCancel(ctx), fmt.Sprintf("PRAGMA busy_timeout = %d", ms))
		return err
	}
	if err := wait(min(usual, patience.Milliseconds())); err != nil {
		return err
	}
	defer wait(usual) // if this fails, so does the next write
	return db.transact(ctx, conn, change)
}
