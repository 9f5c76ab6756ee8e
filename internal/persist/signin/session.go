package signin

import (
	"context"
	"database/sql"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
)

const (
	// SessionTime is how long a session lasts, unless its token expires sooner.
	SessionTime = 30 * 24 * time.Hour

	// sessionsKept is the maximum number of sessions per name. A further session ends the oldest
	// one.
	sessionsKept = 50
)

// Session returns the holder of a session; ok is false if it doesn't exist or has ended. It never
// waits for other reads of the database. A session ended by another process is rejected within 4 s.
// There is an error if the database is failing and the session wasn't in the database when it was
// last read.
func (t *Tokens) Session(ctx context.Context, session string) (who auth.Identity, ok bool, err error) {
	return t.holder(ctx, session, sessionKind)
}

// EndSession ends a session. A session that has already ended causes no error.
func (t *Tokens) EndSession(ctx context.Context, session string) error {
	return t.end(ctx, hashToken(session), sessionKind)
}

// end ends a session or a sign-in code.
func (t *Tokens) end(ctx context.Context, hash tokenHash, kind string) error {
	err := t.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM token WHERE hash = ? AND kind = ?", hash[:], kind)
		return err
	})
	if err == nil {
		t.cache.remove(func(h tokenHash, _ *tokenRow) bool { return h == hash })
	}
	return err
}
