package persist

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
)

// tokenQueue holds sign-in codes and sessions that were created or ended while the database was
// failing. They take effect at once, so that people can sign in to see the problem. The next
// successful flush writes them. It is safe for concurrent use.
type tokenQueue struct {
	redeeming chan struct{} // holds a value while a code is redeemed

	// some is true if the queue may hold any tokens. Usually it holds none, and a look-up needs no
	// lock.
	some atomic.Bool

	mu     sync.Mutex
	tokens map[tokenHash]*tokenRow // nil value: the token has ended
}

func newTokenQueue() *tokenQueue {
	return &tokenQueue{redeeming: make(chan struct{}, 1), tokens: map[tokenHash]*tokenRow{}}
}

// tokenRow is a named token, a code or a session.
type tokenRow struct {
	kind     string
	holder   auth.Identity // with the origin; a session has that of its token or code
	made     time.Time
	expires  time.Time
	rootMade time.Time // for a session: when its token was made; otherwise equal to made
}

// The kinds of tokens.
const (
	codeKind    = "code"
	sessionKind = "session"
	tokenKind   = "token" // named token, made for a person
	// revokedKind records when a name was revoked. Everything created earlier under that name is
	// invalid.
	revokedKind = "revoked"
)

// session returns a session that was started with this token or code.
func (r *tokenRow) session(now time.Time) *tokenRow {
	ends := now.Add(SessionTime)
	if r.kind == tokenKind && r.expires.Before(ends) {
		ends = r.expires
	}
	return &tokenRow{sessionKind, r.holder, now, ends, r.rootMade}
}

// find returns a token that isn't in the database yet. If the token has ended, row is nil and known
// is true.
func (u *tokenQueue) find(hash tokenHash) (row *tokenRow, known bool) {
	if !u.some.Load() {
		return nil, false
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	row, known = u.tokens[hash]
	return row, known
}

func (u *tokenQueue) put(hash tokenHash, row *tokenRow) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.some.Store(true)
	u.tokens[hash] = row
	u.endOldest(row)
}

// endOldest ends the oldest session of a name if this row is one session too many. If a flush is
// already writing that session, the flush ends it in the database.
func (u *tokenQueue) endOldest(row *tokenRow) {
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

// redeem exchanges a code for a session. stored is the code's row in the database, or nil if there
// is none.
func (u *tokenQueue) redeem(code, session tokenHash, stored *tokenRow, now time.Time) (who auth.Identity, err error) {
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

// revoke ends all tokens, codes and sessions of a name.
func (u *tokenQueue) revoke(name string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for hash, row := range u.tokens {
		if row != nil && row.holder.Name == name {
			u.tokens[hash] = nil
		}
	}
}

// peek returns the pending tokens. They stay pending.
func (u *tokenQueue) peek() map[tokenHash]*tokenRow {
	u.mu.Lock()
	defer u.mu.Unlock()
	return maps.Clone(u.tokens)
}

// removeStored removes the tokens that peek returned, because they are stored now.
func (u *tokenQueue) removeStored(tokens map[tokenHash]*tokenRow) {
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
			err = insertUnlessRevoked(ctx, tx, hash, row)
		}
		if err != nil && !errors.Is(err, errRevoked) {
			return err
		}
	}
	return nil
}

// isDatabaseError reports whether err comes from the database.
func isDatabaseError(err error) bool { return errors.As(err, new(*databaseError)) }
