package persist

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
)

// Tokens manages the named tokens, the sign-in codes and the sessions in a database. It is safe for
// concurrent use, in several processes at once.
//
// Each token, code and session has at least 128 random bits. The database contains only its
// SHA-256, which is used to look it up.
type Tokens struct {
	db    *database
	now   func() time.Time
	table *tokenTable
	// queue holds a Store's pending tokens, which the Store writes. It is nil if these Tokens don't
	// belong to a Store.
	queue *tokenQueue
	// failing reports whether the Store knows that nothing can be written. It is nil if these
	// Tokens don't belong to a Store.
	failing func() bool
}

type tokenHash [sha256.Size]byte

func hashToken(token string) tokenHash { return sha256.Sum256([]byte(token)) }

func newTokens(db *database, now func() time.Time) *Tokens {
	t := &Tokens{db: db, now: now, table: newTokenTable(db, now)}
	db.reconnected = t.table.reconnect
	return t
}

// Close closes the database.
func (t *Tokens) Close() error {
	t.table.reconnect() // no more look-ups will come
	return t.db.close()
}

// signInPatience is how long a sign-in of a Store waits for the database, before the Store uses its
// memory instead.
const signInPatience = time.Second

// write runs change in a transaction, as the database's write does. A Store gives up after
// signInPatience and uses its memory instead.
func (t *Tokens) write(ctx context.Context, change func(*sql.Tx) error) error {
	if t.queue == nil {
		return t.db.write(ctx, change)
	}
	return t.db.writeSoon(ctx, signInPatience, change)
}

// storeOrQueue calls write, which stores a row, or deletes it if row is nil. If the database is
// failing, a Store queues the row instead.
func (t *Tokens) storeOrQueue(hash tokenHash, row *tokenRow, write func() error) error {
	if t.queue == nil || !t.failing() {
		err := write()
		if err == nil {
			t.table.put(map[tokenHash]*tokenRow{hash: row})
		}
		if t.queue == nil || !isDatabaseError(err) {
			return err
		}
	}
	t.queue.put(hash, row)
	return nil
}

// holder returns the person to whom a secret of that kind belongs.
func (t *Tokens) holder(ctx context.Context, secret, kind string) (who auth.Identity, ok bool, err error) {
	row, err := t.find(ctx, hashToken(secret), kind)
	if row == nil {
		return who, false, err
	}
	return row.holder, true, nil
}

// find returns a valid row of that kind, or nil if there is none. It looks at pending rows first,
// then at stored ones.
func (t *Tokens) find(ctx context.Context, hash tokenHash, kind string) (row *tokenRow, err error) {
	waits, now := false, t.now()
	if t.queue != nil {
		row, waits = t.queue.find(hash)
	}
	if !waits {
		if row, err = t.table.row(ctx, hash, now); err != nil {
			return nil, err
		}
	}
	if row == nil || row.kind != kind || !isValid(row, now) {
		return nil, nil
	}
	return row, nil
}
