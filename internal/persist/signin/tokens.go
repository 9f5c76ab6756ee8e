// Package signin keeps who has access to the dashboard: named tokens, sign-in codes and sessions.
// It knows no database engine, and nothing of the web.
package signin

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
)

// database is what Tokens needs of a database engine. Errors name the problem and the fix.
type database interface {
	// Query runs a statement and calls the function each for every row. each scans the row.
	Query(ctx context.Context, each func(*sql.Rows) error, statement string, args ...any) error
	// LookUp is like Query, but never waits for a running Query.
	LookUp(ctx context.Context, each func(*sql.Rows) error, statement string, args ...any) error
	// Write runs change in a transaction. It returns an error of change unchanged.
	Write(ctx context.Context, change func(*sql.Tx) error) error
	Close() error
}

// Tokens manages the named tokens, the sign-in codes and the sessions in a database. It is safe for
// concurrent use, even by several processes at once.
//
// Each token, code and session has at least 128 random bits. The database contains only its
// SHA-256, which is used to look it up.
type Tokens struct {
	db    database
	now   func() time.Time
	cache *cache
}

type tokenHash [sha256.Size]byte

func hashToken(token string) tokenHash { return sha256.Sum256([]byte(token)) }

// New returns the Tokens in a database.
func New(db database, now func() time.Time) *Tokens {
	return &Tokens{db: db, now: now, cache: newCache()}
}

// Preload reads all tokens, so that they are known if the database fails before the first look-up.
// It ignores an error of the database, because the first look-up tries again.
func (t *Tokens) Preload(ctx context.Context) {
	now, ended := t.now(), t.cache.ended.Load()
	if rows, err := t.validRows(ctx); err == nil {
		t.cache.add(rows, now, ended)
	}
}

// Close closes the database.
func (t *Tokens) Close() error { return t.db.Close() }

// store stores a row with the function write.
func (t *Tokens) store(ctx context.Context, hash tokenHash, row *tokenRow, write func(*sql.Tx) error) error {
	ended := t.cache.ended.Load()
	err := t.db.Write(ctx, write)
	if err == nil {
		t.cache.add(map[tokenHash]*tokenRow{hash: row}, t.now(), ended)
	}
	return err
}

// holder returns the person to whom a secret of that kind belongs.
func (t *Tokens) holder(ctx context.Context, secret, kind string) (who auth.Identity, ok bool, err error) {
	row, err := t.find(ctx, hashToken(secret), kind)
	if row == nil {
		return who, false, err
	}
	return row.holder, true, nil
}

// find returns a valid row of that kind, or nil if there is none.
func (t *Tokens) find(ctx context.Context, hash tokenHash, kind string) (row *tokenRow, err error) {
	now := t.now()
	row, err = t.cache.row(ctx, hash, now, func() (row *tokenRow, err error) {
		err = t.db.LookUp(ctx, func(rows *sql.Rows) (err error) {
			_, row, err = scanToken(rows)
			return err
		}, "SELECT "+tokenColumns+" FROM token WHERE hash = ? AND kind <> ?", hash[:], revokedKind)
		return row, err
	})
	if row == nil || row.kind != kind || !isValid(row, now) {
		return nil, err
	}
	return row, nil
}
