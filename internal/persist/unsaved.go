package persist

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
)

// unsaved are sign-in codes and sessions that were made or ended while the database was in trouble. They hold all the same, so that people
// can see what the trouble is, and are written by the next flush that can. It is safe for concurrent use.
type unsaved struct {
	redeeming chan struct{} // holds one while somebody redeems a code

	some atomic.Bool // there may be any: as a rule there are none, and whoever comes in needs no lock

	mu     sync.Mutex
	tokens map[tokenHash]*tokenRow // nil for one that has ended
}

func newUnsaved() *unsaved {
	return &unsaved{redeeming: make(chan struct{}, 1), tokens: map[tokenHash]*tokenRow{}}
}

// tokenRow is a named token, a code or a session.
type tokenRow struct {
	kind    string
	holder  journal.Holder
	made    time.Time
	expires time.Time
	origin  time.Time // when that was made which a session began with; else made
}

// The kinds of tokens.
const (
	codeKind    = "code"
	sessionKind = "session"
	tokenKind   = "token"   // with a name, made for somebody
	revokedKind = "revoked" // nobody's: what was made in its name before it holds no more
)

// session is one that begins with this token or code.
func (r *tokenRow) session(now time.Time) *tokenRow {
	ends := now.Add(SessionTime)
	if r.kind == tokenKind && r.expires.Before(ends) {
		ends = r.expires
	}
	return &tokenRow{sessionKind, r.holder, now, ends, r.origin}
}

// of returns a token that isn't in the database, or is no more: then it is nil.
func (u *unsaved) of(hash tokenHash) (row *tokenRow, known bool) {
	if !u.some.Load() {
		return nil, false
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	row, known = u.tokens[hash]
	return row, known
}

func (u *unsaved) put(hash tokenHash, row *tokenRow) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.some.Store(true)
	u.tokens[hash] = row
	u.endOldest(row)
}

// endOldest keeps the newest of a name's sessions if this row is one of them. A flush that is writing one that has ended here ends it there.
func (u *unsaved) endOldest(row *tokenRow) {
	if row == nil || row.kind != sessionKind {
		return
	}
	var oldest tokenHash
	n, first := 0, row.made
	for hash, other := range u.tokens {
		if other == nil || other.kind != sessionKind || other.holder.Name != row.holder.Name {
			continue
		}
		if n++; other != row && !other.made.After(first) {
			oldest, first = hash, other.made
		}
	}
	if n > sessionsKept {
		delete(u.tokens, oldest)
	}
}

// redeem exchanges a code for a session. stored is the code as the database has it; nil where it hasn't.
func (u *unsaved) redeem(code, session tokenHash, stored *tokenRow, now time.Time) (who journal.Holder, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	row, known := u.tokens[code]
	if !known {
		row = stored
	}
	if row == nil || row.kind != codeKind || !now.Before(row.expires) {
		return who, ErrCode
	}
	u.some.Store(true)
	u.tokens[code], u.tokens[session] = nil, row.session(now)
	u.endOldest(u.tokens[session])
	return row.holder, nil
}

// revoke ends everything in a name.
func (u *unsaved) revoke(name string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for hash, row := range u.tokens {
		if row != nil && row.holder.Name == name {
			u.tokens[hash] = nil
		}
	}
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
	u.some.Store(len(u.tokens) > 0)
}

func writeTokens(ctx context.Context, tx *sql.Tx, tokens map[tokenHash]*tokenRow) error {
	for hash, row := range tokens {
		var err error
		if row == nil {
			_, err = tx.ExecContext(ctx, "DELETE FROM token WHERE hash = ?", hash[:])
		} else {
			_, err = insertUnlessRevoked(ctx, tx, hash, row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// inTrouble reports whether an error is the database's.
func inTrouble(err error) bool { return errors.As(err, new(*trouble)) }
