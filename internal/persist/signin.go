package persist

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"errors"
	"sync"
	"time"
)

const (
	// SignInTime is how long a sign-in code is good for, unless it is made for less.
	SignInTime = 15 * time.Minute
	// SessionTime is how long a session lasts.
	SessionTime = 30 * 24 * time.Hour

	// sessionMemory is how long Session believes what it read, and so how long a session lives on that another process ended.
	sessionMemory = 5 * time.Second
	// sessionsRemembered bounds the sessions that are remembered at one time.
	sessionsRemembered = 1000
)

// ErrCode is the error of a sign-in code that signs nobody in.
var ErrCode = errors.New("this sign-in code is unknown, used or too old: make a new one with `chatguard signin`")

// Tokens are the sign-in codes and sessions in a database. It is safe for concurrent use, in several processes at a time.
//
// Codes and sessions are 128 random bits or more. The database has only their SHA-256, and they are looked up by it.
type Tokens struct {
	db  *database
	now func() time.Time

	mu   sync.Mutex
	seen map[tokenHash]seenSession
}

type tokenHash [sha256.Size]byte

func hashToken(token string) tokenHash { return sha256.Sum256([]byte(token)) }

// seenSession is a session as it was read.
type seenSession struct {
	name    string
	expires time.Time
	readAt  time.Time
}

func newTokens(db *database, now func() time.Time) *Tokens {
	return &Tokens{db: db, now: now, seen: map[tokenHash]seenSession{}}
}

// Close closes the database.
func (t *Tokens) Close() error { return t.db.close() }

// NewSignInCode makes a code that signs in as name, once, within the time to live; 0 means SignInTime.
func (t *Tokens) NewSignInCode(ctx context.Context, name string, ttl time.Duration) (code string, err error) {
	if ttl == 0 {
		ttl = SignInTime
	}
	code = rand.Text()
	err = t.db.write(ctx, func(tx *sql.Tx) error { return t.insert(ctx, tx, "code", code, name, ttl) })
	return code, err
}

// RedeemCode exchanges a code for a session, which lasts SessionTime. Of several who redeem the same code one gets a session; the others' error
// is ErrCode, as for a code that never was.
func (t *Tokens) RedeemCode(ctx context.Context, code string) (session, name string, err error) {
	session = rand.Text()
	hash := hashToken(code)
	err = t.db.write(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, "DELETE FROM token WHERE hash = ? AND kind = 'code' AND expires_at > ? RETURNING name",
			hash[:], t.now().UnixNano()).Scan(&name)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrCode
		}
		if err != nil {
			return err
		}
		return t.insert(ctx, tx, "session", session, name, SessionTime)
	})
	if err != nil {
		return "", "", err
	}
	return session, name, nil
}

func (t *Tokens) insert(ctx context.Context, tx *sql.Tx, kind, token, name string, ttl time.Duration) error {
	hash := hashToken(token)
	_, err := tx.ExecContext(ctx, "INSERT INTO token (hash, kind, name, expires_at) VALUES (?, ?, ?, ?)",
		hash[:], kind, name, t.now().Add(ttl).UnixNano())
	return err
}

// Session returns whose session it is; ok is false where there is none, or none any more. A session that another process ended is gone
// within 5 s.
func (t *Tokens) Session(ctx context.Context, session string) (name string, ok bool, err error) {
	hash, now := hashToken(session), t.now()
	s, found := t.remembered(hash, now)
	if !found {
		if s, err = t.readSession(ctx, hash, now); err != nil {
			return "", false, err
		}
	}
	if !now.Before(s.expires) {
		return "", false, nil
	}
	return s.name, true, nil
}

// EndSession ends a session. One that has ended already is no error.
func (t *Tokens) EndSession(ctx context.Context, session string) error {
	hash := hashToken(session)
	err := t.db.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM token WHERE hash = ? AND kind = 'session'", hash[:])
		return err
	})
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.seen, hash)
	return err
}

func (t *Tokens) remembered(hash tokenHash, now time.Time) (seenSession, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, found := t.seen[hash]
	age := now.Sub(s.readAt)
	return s, found && age >= 0 && age < sessionMemory
}

// readSession returns the zero seenSession, which has expired, where there is no such session.
func (t *Tokens) readSession(ctx context.Context, hash tokenHash, now time.Time) (seenSession, error) {
	var expires int64
	s := seenSession{readAt: now}
	err := t.db.reader.QueryRowContext(ctx, "SELECT name, expires_at FROM token WHERE hash = ? AND kind = 'session'", hash[:]).
		Scan(&s.name, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return seenSession{}, nil
	}
	if err != nil {
		return s, explain(t.db.path, err)
	}
	s.expires = timeAt(expires)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.seen) >= sessionsRemembered {
		clear(t.seen)
	}
	t.seen[hash] = s
	return s, nil
}
