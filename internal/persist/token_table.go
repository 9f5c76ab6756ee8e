package persist

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"maps"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
)

const (
	// tokenCheck is the age of the token table in memory from which a look-up checks whether the
	// database has changed.
	tokenCheck = time.Second
	// tokenWait is the age of the table from which a look-up waits for another look-up that is
	// already checking. A token or session that another process has ended is rejected within
	// tokenWait plus the time that the database takes to answer.
	tokenWait = 3 * time.Second
)

// lookUpPragmas are the pragmas of the connection that reads the token table. Its timeout is short,
// so that requests don't wait long.
var lookUpPragmas = []string{"busy_timeout(500)", "query_only(ON)", "cache_size(-64)"}

// tokenTable is a copy of the database's token table in memory, so that a busy database doesn't
// delay requests. It has its own connection. On this connection, PRAGMA data_version shows whether
// another connection, even one of another process, has changed the database. It is safe for
// concurrent use.
type tokenTable struct {
	db  *database
	now func() time.Time
	// turn is a lock: it holds one value while a goroutine reads the table or changes it.
	turn  chan struct{}
	began atomic.Uint64              // number of reads begun
	read  atomic.Pointer[tokensRead] // never nil

	// Only the holder of turn uses the following fields.
	conn *sql.Conn // nil before the first read or after a failure
	// version is the database's version when conn read the table. It is noVersion if the table must
	// be read again.
	version int64
}

// noVersion differs from every database's version.
const noVersion = -1

// tokensRead is the token table as read. It is immutable.
type tokensRead struct {
	rows   map[tokenHash]*tokenRow // nil until a read succeeds
	at     time.Time               // when the read began
	number uint64                  // number of the read
	err    error                   // why the read failed; rows are from an earlier read
}

func newTokenTable(db *database, now func() time.Time) *tokenTable {
	t := &tokenTable{db: db, now: now, turn: make(chan struct{}, 1), version: noVersion}
	t.read.Store(&tokensRead{})
	return t
}

// row returns the token with a hash, or nil if there is none. If the database can't be read, the
// rows read last remain valid. In that case there is an error only if the token isn't among these
// rows. There is also an error if the context ends first.
func (t *tokenTable) row(ctx context.Context, hash tokenHash, now time.Time) (*tokenRow, error) {
	read := t.read.Load()
	row, age := read.rows[hash], read.age(now)
	switch {
	case age < tokenCheck && row != nil:
		return row, nil
	case age < tokenCheck && read.err != nil:
		return nil, read.err
	case age < tokenWait && row != nil:
		select {
		case t.turn <- struct{}{}:
			return findRow(t.checkAndLeave(ctx), hash)
		default:
			return row, nil // another caller is already checking
		}
	}
	// Another process may have created the token just now. Only a read that begins after this point
	// is sure to see it.
	began := t.began.Load()
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if read = t.read.Load(); read.number > began && read.age(t.now()) < tokenCheck {
		<-t.turn
		return findRow(read, hash)
	}
	return findRow(t.checkAndLeave(ctx), hash)
}

// all returns all rows. If the database can't be read, they are those read last, or there is an
// error if there are none.
func (t *tokenTable) all(ctx context.Context) (map[tokenHash]*tokenRow, error) {
	read := t.read.Load()
	if read.age(t.now()) >= tokenCheck {
		select {
		case t.turn <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		read = t.checkAndLeave(ctx)
	}
	if read.rows == nil {
		return nil, read.err
	}
	return read.rows, nil
}

func findRow(read *tokensRead, hash tokenHash) (*tokenRow, error) {
	if row := read.rows[hash]; row != nil {
		return row, nil
	}
	return nil, read.err
}

// age returns how much time has passed since the read began. If the clock has gone back since, it
// returns tokenWait.
func (r *tokensRead) age(now time.Time) time.Duration {
	age := now.Sub(r.at)
	if age < 0 {
		return tokenWait
	}
	return age
}

// checkAndLeave reads the table if it has changed, and releases turn, which the caller must hold.
// It continues after the end of the context, because other callers wait for its result.
func (t *tokenTable) checkAndLeave(ctx context.Context) *tokensRead {
	defer func() { <-t.turn }()
	last := t.read.Load()
	next := &tokensRead{rows: last.rows, at: t.now(), number: t.began.Add(1)}
	if rows, err := t.load(context.WithoutCancel(ctx), last.rows); err == nil {
		next.rows = rows
	} else {
		next.err = Explain(t.db.path, err)
		t.disconnect()
	}
	t.read.Store(next)
	return next
}

// load returns the rows of the database. If the database hasn't changed since the last read, it
// returns had.
func (t *tokenTable) load(ctx context.Context, had map[tokenHash]*tokenRow) (rows map[tokenHash]*tokenRow, err error) {
	if t.conn == nil {
		if t.conn, err = t.db.lookUps.Conn(ctx); err != nil {
			return nil, err
		}
		t.version = noVersion
	}
	var version int64
	if err := t.conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&version); err != nil {
		return nil, err
	}
	if version == t.version {
		return had, nil
	}
	if rows, err = readTokens(ctx, t.conn); err == nil {
		t.version = version // a change after this is read next time
	}
	return rows, err
}

// readTokens reads all rows that give access. It omits sessions beyond sessionsKept, which an older
// version may have stored; the next session of the same name deletes them.
func readTokens(ctx context.Context, conn *sql.Conn) (map[tokenHash]*tokenRow, error) {
	const query = `SELECT hash, ` + tokenColumns + ` FROM (
			SELECT *, row_number() OVER (PARTITION BY kind, name ORDER BY made_at DESC) AS place FROM token WHERE kind <> ?1 AND length(hash) = 32)
		WHERE kind <> ?2 OR place <= ?3`
	rows := map[tokenHash]*tokenRow{}
	args := []any{revokedKind, sessionKind, int64(sessionsKept)}
	err := conn.Raw(func(raw any) error {
		return eachRowOf(ctx, raw.(driver.QueryerContext), 7, query, args, func(row []driver.Value) error {
			who := auth.Identity{Name: row[2].(string), Access: auth.Access(row[3].(string)), From: auth.Origin(row[4].(string))}
			made, expires := timeAt(row[5].(int64)), timeAt(row[6].(int64))
			rows[tokenHash(row[0].([]byte))] = &tokenRow{row[1].(string), who, made, expires, made}
			return nil
		})
	})
	return rows, err
}

// refresh keeps the table less than tokenCheck old until the context ends, so that a look-up of a
// known token doesn't read the database.
func (t *tokenTable) refresh(ctx context.Context) {
	ticker := time.NewTicker(tokenCheck / 2)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		select {
		case t.turn <- struct{}{}:
			t.checkAndLeave(ctx)
		default: // another goroutine is reading or changing the table
		}
	}
}

// preload reads the table, so that tokens are known if the database fails before the first look-up.
// It ignores an error of the database, because the first look-up tries again.
func (t *tokenTable) preload(ctx context.Context) {
	t.turn <- struct{}{}
	t.checkAndLeave(ctx)
}

// put adds rows that were just stored, so that they remain valid even if the database can't be read
// next. A nil row means that the row was deleted.
func (t *tokenTable) put(changed map[tokenHash]*tokenRow) {
	if len(changed) == 0 {
		return
	}
	t.change(func(rows map[tokenHash]*tokenRow) {
		for hash, row := range changed {
			if row == nil {
				delete(rows, hash)
			} else {
				rows[hash] = row
			}
		}
	})
}

// revoke removes all rows of a name that was just revoked.
func (t *tokenTable) revoke(name string) {
	t.change(func(rows map[tokenHash]*tokenRow) {
		maps.DeleteFunc(rows, func(_ tokenHash, row *tokenRow) bool { return row.holder.Name == name })
	})
}

// change changes the rows in memory. It makes the next look-up read the database again, because
// another process may have changed the database too.
func (t *tokenTable) change(do func(rows map[tokenHash]*tokenRow)) {
	t.turn <- struct{}{} // wait for a current read, which may have missed the change
	defer func() { <-t.turn }()
	t.version = noVersion
	last := t.read.Load()
	if last.rows == nil {
		return
	}
	rows := maps.Clone(last.rows)
	do(rows)
	t.read.Store(&tokensRead{rows: rows, number: last.number})
}

// reconnect makes the next read open another connection.
func (t *tokenTable) reconnect() {
	t.turn <- struct{}{}
	defer func() { <-t.turn }()
	t.disconnect()
}

// disconnect closes the connection. The caller must hold the turn.
func (t *tokenTable) disconnect() {
	if t.conn != nil {
		_ = t.conn.Close() // only used for reading
		t.conn = nil
	}
}
