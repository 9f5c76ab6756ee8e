package persist

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"sync"
	"time"
)

// unsaved are sign-in codes and sessions that were made or ended while the database was in trouble. They hold all the same, so that people
// can see what the trouble is, and are written by the next flush that can. It is safe for concurrent use.
type unsaved struct {
	redeeming chan struct{} // holds one while somebody redeems a code

	mu     sync.Mutex
	tokens map[tokenHash]*tokenRow // nil for one that has ended
}

func newUnsaved() *unsaved {
	return &unsaved{redeeming: make(chan struct{}, 1), tokens: map[tokenHash]*tokenRow{}}
}

// tokenRow is a code or a session.
type tokenRow struct {
	kind, name string
	expires    time.Time
}

// The kinds of tokens.
const (
	codeKind    = "code"
	sessionKind = "session"
)

// of returns a token that isn't in the database, or is no more: then it is nil.
func (u *unsaved) of(hash tokenHash) (row *tokenRow, known bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	row, known = u.tokens[hash]
	return row, known
}

func (u *unsaved) put(hash tokenHash, row *tokenRow) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.tokens[hash] = row
}

// redeem exchanges a code for a session. stored is the code as the database has it; nil where it hasn't.
func (u *unsaved) redeem(code, session tokenHash, stored *tokenRow, now time.Time) (name string, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	row, known := u.tokens[code]
	if !known {
		row = stored
	}
	if row == nil || row.kind != codeKind || !now.Before(row.expires) {
		return "", ErrCode
	}
	u.tokens[code] = nil
	u.tokens[session] = &tokenRow{sessionKind, row.name, now.Add(SessionTime)}
	return row.name, nil
}

// look returns what waits, and leaves it waiting.
func (u *unsaved) look() map[tokenHash]*tokenRow {
	u.mu.Lock()
	defer u.mu.Unlock()
	return maps.Clone(u.tokens)
}

// stored forgets what look returned.
func (u *unsaved) stored(tokens map[tokenHash]*tokenRow) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for hash, row := range tokens {
		if u.tokens[hash] == row {
			delete(u.tokens, hash)
		}
	}
}

func writeTokens(ctx context.Context, tx *sql.Tx, tokens map[tokenHash]*tokenRow) error {
	for hash, row := range tokens {
		var err error
		if row == nil {
			_, err = tx.ExecContext(ctx, "DELETE FROM token WHERE hash = ?", hash[:])
		} else {
			err = insertToken(ctx, tx, hash, row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func insertToken(ctx context.Context, tx *sql.Tx, hash tokenHash, row *tokenRow) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO token (hash, kind, name, expires_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
		hash[:], row.kind, row.name, row.expires.UnixNano())
	return err
}

// inTrouble reports whether an error is the database's.
func inTrouble(err error) bool { return errors.As(err, new(*trouble)) }
