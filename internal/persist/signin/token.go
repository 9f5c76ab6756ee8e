package signin

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"math"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/persist/statement"
)

// never is the expiry of a token that doesn't expire: the last instant that the database can store.
var never = statement.TimeAt(math.MaxInt64)

// Holder is a person who has access by a token, a session or a sign-in link, with their name and
// role. The secret itself is not stored anywhere.
type Holder struct {
	auth.Identity
	MadeAt    time.Time `json:"made_at,omitzero"`    // of the token; absent or zero if none
	ExpiresAt time.Time `json:"expires_at,omitzero"` // absent or zero if never, or without a token
	Sessions  int       `json:"sessions"`            // sessions that are still valid
	Links     int       `json:"links"`               // unused sign-in links
}

// NewToken creates a named token that is valid for ttl; 0 means until it is revoked. It returns
// auth.TakenError if the name already has a token, and an error if the database is failing.
func (t *Tokens) NewToken(ctx context.Context, who auth.Identity, ttl time.Duration) (token string, err error) {
	token = rand.Text()
	now := t.now()
	who.From = auth.FromToken
	hash, row := hashToken(token), &tokenRow{tokenKind, who, now, never, now}
	if ttl > 0 {
		row.expires = now.Add(ttl)
	}
	err = t.store(ctx, hash, row, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM token WHERE kind = ? AND name = ? AND expires_at <= ?", tokenKind, who.Name, now.UnixNano())
		if err != nil {
			return err
		}
		var taken bool
		err = tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM token WHERE kind = ? AND name = ?)", tokenKind, who.Name).Scan(&taken)
		if err != nil {
			return err
		}
		if taken {
			return auth.TakenError{Name: who.Name}
		}
		return insertToken(ctx, tx, hash, row)
	})
	if err != nil {
		return "", err
	}
	return token, nil
}

// Token returns the holder of a named token; ok is false if it doesn't exist or is no longer valid.
// It never waits for other reads of the database. A token revoked by another process is rejected
// within 4 s. There is an error if the database is failing and the token wasn't in the database
// when it was last read.
func (t *Tokens) Token(ctx context.Context, token string) (who auth.Identity, ok bool, err error) {
	return t.holder(ctx, token, tokenKind)
}

// BeginSession exchanges a named token for a session, which lasts SessionTime but no longer than
// the token. The session is empty if the token is unknown, revoked or expired.
func (t *Tokens) BeginSession(ctx context.Context, token string) (session string, who auth.Identity, err error) {
	row, err := t.find(ctx, hashToken(token), tokenKind)
	if err != nil || row == nil {
		return "", who, err
	}
	session = rand.Text()
	hash, begun := hashToken(session), row.session(t.now())
	err = t.store(ctx, hash, begun, func(tx *sql.Tx) error { return insertUnlessRevoked(ctx, tx, hash, begun) })
	switch {
	case errors.Is(err, errRevoked):
		return "", who, nil
	case err != nil:
		return "", who, err
	}
	return session, row.holder, nil
}

// Holders returns every person who has a token, is signed in or can still sign in with a link, once
// for each role and origin, sorted by name, role and origin.
func (t *Tokens) Holders(ctx context.Context) ([]Holder, error) {
	return statement.List(ctx, t.db.Query, func(rows *sql.Rows, e *Holder) error {
		err := rows.Scan(&e.Name, &e.Access, &e.From, statement.Time(&e.MadeAt), statement.Time(&e.ExpiresAt), &e.Sessions, &e.Links)
		if e.ExpiresAt.Equal(never) {
			e.ExpiresAt = time.Time{}
		}
		return err
	}, `SELECT name, access, origin, max(CASE WHEN kind = $1 THEN made_at END), max(CASE WHEN kind = $1 THEN expires_at END),
			count(CASE WHEN kind = $2 THEN 1 END), count(CASE WHEN kind = $3 THEN 1 END)
		FROM token WHERE kind IN ($1, $2, $3) AND expires_at > $4 GROUP BY name, access, origin ORDER BY name, access, origin`,
		tokenKind, sessionKind, codeKind, t.now().UnixNano())
}

// Names returns, sorted, the names of every person who has a token, is signed in or can still sign
// in with a code.
func (t *Tokens) Names(ctx context.Context) ([]string, error) {
	return statement.Texts(ctx, t.db.Query, "SELECT DISTINCT name FROM token WHERE kind <> ? AND expires_at > ? ORDER BY name", revokedKind, t.now().UnixNano())
}

// Revoke ends a name's token, sign-in codes and sessions, and returns how many of each. The process
// that owns the database notices within 4 s.
func (t *Tokens) Revoke(ctx context.Context, name string) (ended auth.Revoked, err error) {
	now := t.now()
	err = t.db.Write(ctx, func(tx *sql.Tx) error {
		var err error
		if ended, err = deleteTokens(ctx, tx, name, now); err != nil {
			return err
		}
		// The token of a session that begins now is older than this record, so the session will
		// never be written.
		return insertToken(ctx, tx, revocationOf(name), &tokenRow{revokedKind, auth.Identity{Name: name}, now, now.Add(SessionTime), now})
	})
	if err != nil {
		return auth.Revoked{}, err
	}
	t.cache.remove(func(_ tokenHash, row *tokenRow) bool { return row.holder.Name == name })
	return ended, nil
}
