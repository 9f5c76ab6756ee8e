package persist

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// writeSoon is write, but waits no longer than the patience for whoever writes in this process, and as long for who does in others.
func (db *database) writeSoon(ctx context.Context, patience time.Duration, change func(*sql.Tx) error) error {
	return db.wrote(db.transactSoon(ctx, patience, change))
}

// transactSoon gives the connection a patience for the transaction: the driver doesn't hear of a context's end while it waits for a lock.
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
	defer wait(usual) // a connection that can't be told fails the next write, too
	return db.transact(ctx, conn, change)
}
