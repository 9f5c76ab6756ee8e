package persist

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"maps"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
)

const (
	// tokenCheck is how old the token table in memory gets before a look-up asks whether the database has changed.
	tokenCheck = time.Second
	// tokenWait is how old it gets before a look-up waits for another one that is asking. What another process ended is gone within tokenWait and the
	// time that the database takes to answer.
	tokenWait = 3 * time.Second
)

// lookUpPragmas are those of the connection that reads the token table: whoever comes in doesn't wait for long.
var lookUpPragmas = []string{"busy_timeout(500)", "query_only(ON)", "cache_size(-64)"}

// tokenTable is the database's token table in memory, so that a busy database holds nobody up who comes in. It has a connection of its own, on which
// PRAGMA data_version tells whether anybody else has changed the database, another process included. It is safe for concurrent use.
type tokenTable struct {
	db    *database
	now   func() time.Time
	turn  chan struct{}              // holds one while somebody reads the table or changes it
	began atomic.Uint64              // how many reads have begun
	read  atomic.Pointer[tokensRead] // never nil

	// For whoever has the turn:
	conn    *sql.Conn // nil before the first read, and after one that failed
	version int64     // of the database when conn read the table; noVersion if it has to be read again
}

// noVersion is the version of no database.
const noVersion = -1

// tokensRead is the token table as it was read. It never changes.
type tokensRead struct {
	rows   map[tokenHash]*tokenRow // nil as long as it couldn't be read
	at     time.Time               // when the read began
	number uint64                  // of the read
	err    error                   // why it failed; the rows are those of the last one that didn't
}

func newTokenTable(db *database, now func() time.Time) *tokenTable {
	t := &tokenTable{db: db, now: now, turn: make(chan struct{}, 1), version: noVersion}
	t.read.Store(&tokensRead{})
	return t
}

// row returns the token with a hash, nil if there is none. While the database can't be read, what was read before holds; the error is for a token that
// isn't among it, and for a context that ends first.
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
			return result(t.checkAndLeave(ctx), hash)
		default:
			return row, nil // somebody is asking already
		}
	}
	// Another process may have made it just now: only a read that begins after this knows.
	began := t.began.Load()
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if read = t.read.Load(); read.number > began && read.age(t.now()) < tokenCheck {
		<-t.turn
		return result(read, hash)
	}
	return result(t.checkAndLeave(ctx), hash)
}

func result(read *tokensRead, hash tokenHash) (*tokenRow, error) {
	if row := read.rows[hash]; row != nil {
		return row, nil
	}
	return nil, read.err
}

// age is how long ago a read began. One that is older than a step back of the clock has no age that counts.
func (r *tokensRead) age(now time.Time) time.Duration {
	age := now.Sub(r.at)
	if age < 0 {
		return tokenWait
	}
	return age
}

// checkAndLeave reads the table if it has changed, for whoever has the turn, and gives up the turn. It goes on after the context's end: others wait for
// the same.
func (t *tokenTable) checkAndLeave(ctx context.Context) *tokensRead {
	defer func() { <-t.turn }()
	last := t.read.Load()
	next := &tokensRead{rows: last.rows, at: t.now(), number: t.began.Add(1)}
	if rows, err := t.load(context.WithoutCancel(ctx), last.rows); err == nil {
		next.rows = rows
	} else {
		next.err = explain(t.db.path, err)
		t.disconnect()
	}
	t.read.Store(next)
	return next
}

// load returns the rows of the database, which are those it had if nobody has changed it.
func (t *tokenTable) load(ctx context.Context, had map[tokenHash]*tokenRow) (rows map[tokenHash]*tokenRow, err error) {
	if t.conn == nil {
		if err := t.db.checkPlace(); err != nil {
			return nil, err
		}
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
		t.version = version // what was changed since it was asked for is read next time, too
	}
	return rows, err
}

// readTokens reads all that somebody may come in with. Sessions beyond sessionsKept, from an older version, are left out:
// the name's next one deletes them.
func readTokens(ctx context.Context, conn *sql.Conn) (map[tokenHash]*tokenRow, error) {
	const query = `SELECT hash, ` + tokenColumns + ` FROM (
			SELECT *, row_number() OVER (PARTITION BY kind, name ORDER BY made_at DESC) AS place FROM token WHERE kind <> ?1 AND length(hash) = 32)
		WHERE kind <> ?2 OR place <= ?3`
	rows := map[tokenHash]*tokenRow{}
	args := []any{revokedKind, sessionKind, int64(sessionsKept)}
	err := conn.Raw(func(raw any) error {
		return eachRowOf(ctx, raw.(driver.QueryerContext), 6, query, args, func(row []driver.Value) error {
			who := journal.Holder{Name: row[2].(string), Access: journal.Access(row[3].(string))}
			made, expires := timeAt(row[4].(int64)), timeAt(row[5].(int64))
			rows[tokenHash(row[0].([]byte))] = &tokenRow{row[1].(string), who, made, expires, made}
			return nil
		})
	})
	return rows, err
}

// warm reads the table, so that who may come in is known if trouble begins before the first of them does. A database that is in trouble already is no
// error: the first look-up tries again.
func (t *tokenTable) warm(ctx context.Context) {
	t.turn <- struct{}{}
	t.checkAndLeave(ctx)
}

// put takes note of rows that were just stored, so that they hold even if the database can't be read next; nil is one that was deleted.
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

// revoke takes note that everything in a name was just deleted.
func (t *tokenTable) revoke(name string) {
	t.change(func(rows map[tokenHash]*tokenRow) {
		maps.DeleteFunc(rows, func(_ tokenHash, row *tokenRow) bool { return row.holder.Name == name })
	})
}

// change changes the rows in memory, and has them read again by the next look-up: another process may have changed them, too.
func (t *tokenTable) change(do func(rows map[tokenHash]*tokenRow)) {
	t.turn <- struct{}{} // a read under way may not have seen what was stored
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

// reconnect has the next read open another connection.
func (t *tokenTable) reconnect() {
	t.turn <- struct{}{}
	defer func() { <-t.turn }()
	t.disconnect()
}

// disconnect closes the connection, for whoever has the turn.
func (t *tokenTable) disconnect() {
	if t.conn != nil {
		_ = t.conn.Close() // it was only read from
		t.conn = nil
	}
}
