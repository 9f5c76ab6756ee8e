package persist

import (
	"cmp"
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
	db      *database
	now     func() time.Time
	unsaved *unsaved    // of a Store, which writes them; nil beside one
	failing func() bool // whether the Store knows that nothing can be written; nil beside one

	mu    sync.Mutex
	seen  map[tokenHash]seenSession
	ended int // how many sessions were ended here: what was read before the last one may be of that
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

// NewSignInCode makes a code that signs in as name, once, within the time to live; 0 means SignInTime. While the database is in trouble a
// Store keeps it in memory.
func (t *Tokens) NewSignInCode(ctx context.Context, name string, ttl time.Duration) (code string, err error) {
	if ttl == 0 {
		ttl = SignInTime
	}
	code = rand.Text()
	hash, row := hashToken(code), &tokenRow{codeKind, name, t.now().Add(ttl)}
	if t.unsaved != nil && t.failing() {
		t.unsaved.put(hash, row)
		return code, nil
	}
	err = t.db.write(ctx, func(tx *sql.Tx) error { return insertToken(ctx, tx, hash, row) })
	if t.unsaved != nil && inTrouble(err) {
		t.unsaved.put(hash, row)
		err = nil
	}
	return code, err
}

// RedeemCode exchanges a code for a session, which lasts SessionTime. Of several who redeem the same code one gets a session; the others' error
// is ErrCode, as for a code that never was. While the database is in trouble a Store keeps the session in memory.
func (t *Tokens) RedeemCode(ctx context.Context, code string) (session, name string, err error) {
	session = rand.Text()
	from, to := hashToken(code), hashToken(session)
	if t.unsaved == nil {
		name, err = t.redeem(ctx, from, to)
	} else {
		name, err = t.redeemHereOrThere(ctx, from, to)
	}
	if err != nil {
		return "", "", err
	}
	return session, name, nil
}

// redeemHereOrThere exchanges a code in memory, where it waits or the database is in trouble, else in the database. One at a time: whoever finds
// the database well again has to know what was redeemed in memory until then.
func (t *Tokens) redeemHereOrThere(ctx context.Context, code, session tokenHash) (name string, err error) {
	if _, known := t.unsaved.of(code); !known { // whoever tries codes at random holds up nobody
		if stored, err := t.read(ctx, code, codeKind); stored == nil {
			return "", cmp.Or(err, ErrCode)
		}
	}
	select {
	case t.unsaved.redeeming <- struct{}{}:
		defer func() { <-t.unsaved.redeeming }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	name, err = t.unsaved.redeem(code, session, nil, t.now())
	if _, known := t.unsaved.of(code); known || err == nil {
		return name, err
	}
	if !t.failing() {
		if name, err = t.redeem(ctx, code, session); !inTrouble(err) {
			return name, err
		}
	}
	return t.redeemUnsaved(ctx, code, session)
}

func (t *Tokens) redeem(ctx context.Context, code, session tokenHash) (name string, err error) {
	err = t.db.write(ctx, func(tx *sql.Tx) error {
		now := t.now()
		err := tx.QueryRowContext(ctx, "DELETE FROM token WHERE hash = ? AND kind = 'code' AND expires_at > ? RETURNING name",
			code[:], now.UnixNano()).Scan(&name)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrCode
		}
		if err != nil {
			return err
		}
		return insertToken(ctx, tx, session, &tokenRow{sessionKind, name, now.Add(SessionTime)})
	})
	return name, err
}

// redeemUnsaved exchanges a code that can be read, although nothing can be written.
func (t *Tokens) redeemUnsaved(ctx context.Context, code, session tokenHash) (name string, err error) {
	stored, err := t.read(ctx, code, codeKind)
	if err != nil {
		return "", err
	}
	return t.unsaved.redeem(code, session, stored, t.now())
}

// read returns a token as the database has it, nil where it hasn't.
func (t *Tokens) read(ctx context.Context, hash tokenHash, kind string) (*tokenRow, error) {
	row, expires := &tokenRow{kind: kind}, int64(0)
	err := t.db.reader.QueryRowContext(ctx, "SELECT name, expires_at FROM token WHERE hash = ? AND kind = ?", hash[:], kind).
		Scan(&row.name, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	row.expires = timeAt(expires)
	return row, explain(t.db.path, err)
}

// Session returns whose session it is; ok is false where there is none, or none any more. A session that another process ended is gone
// within 5 s.
func (t *Tokens) Session(ctx context.Context, session string) (name string, ok bool, err error) {
	hash, now, ended := hashToken(session), t.now(), t.endings()
	s, found := t.remembered(hash, now)
	if !found {
		if s, err = t.readSession(ctx, hash, now, ended); err != nil {
			return "", false, err
		}
	}
	if !now.Before(s.expires) {
		return "", false, nil
	}
	return s.name, true, nil
}

// EndSession ends a session. One that has ended already is no error. While the database is in trouble it is over all the same, and a Store deletes
// it there when it can.
func (t *Tokens) EndSession(ctx context.Context, session string) error {
	hash := hashToken(session)
	defer t.forget(hash)
	waits := false // asked before it is deleted, because a flush may be writing it
	if t.unsaved != nil {
		_, waits = t.unsaved.of(hash)
		if t.failing() {
			t.unsaved.put(hash, nil)
			return nil
		}
	}
	err := t.db.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM token WHERE hash = ? AND kind = ?", hash[:], sessionKind)
		return err
	})
	if waits || t.unsaved != nil && inTrouble(err) {
		t.unsaved.put(hash, nil)
		return nil
	}
	return err
}

// forget makes sure that an ended session is read anew.
func (t *Tokens) forget(hash tokenHash) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.seen, hash)
	t.ended++
}

func (t *Tokens) remembered(hash tokenHash, now time.Time) (seenSession, bool) {
	if t.unsaved != nil {
		if row, known := t.unsaved.of(hash); known {
			return unsavedSession(row), true
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s, found := t.seen[hash]
	age := now.Sub(s.readAt)
	return s, found && age >= 0 && age < sessionMemory
}

// unsavedSession is the zero seenSession, which has expired, for a token that has ended or is no session.
func unsavedSession(row *tokenRow) seenSession {
	if row == nil || row.kind != sessionKind {
		return seenSession{}
	}
	return seenSession{name: row.name, expires: row.expires}
}

// endings is how many sessions have ended here so far.
func (t *Tokens) endings() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended
}

// readSession returns the zero seenSession, which has expired, where there is no such session. It is remembered unless one has ended since there
// were so many endings.
func (t *Tokens) readSession(ctx context.Context, hash tokenHash, now time.Time, ended int) (seenSession, error) {
	row, err := t.read(ctx, hash, sessionKind)
	if row == nil || err != nil {
		return seenSession{}, err
	}
	s := seenSession{name: row.name, expires: row.expires, readAt: now}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended != ended {
		return s, nil // it may have ended meanwhile
	}
	if len(t.seen) >= sessionsRemembered {
		clear(t.seen)
	}
	t.seen[hash] = s
	return s, nil
}
