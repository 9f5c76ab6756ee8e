package persist

import (
	"context"
	"database/sql"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
)

const (
	// SessionTime is how long a session lasts, unless the token that it began with expires sooner.
	SessionTime = 30 * 24 * time.Hour

	// tokenMemory is how long Session and Token believe what they read, and so how long lives on what another process ended. It leaves a second to
	// those who ask only so often.
	tokenMemory = 4 * time.Second
	// tokensRemembered bounds the sessions and tokens that are remembered at one time.
	tokensRemembered = 1000
)

// seenToken is a session or a named token as it was read.
type seenToken struct {
	*tokenRow
	readAt time.Time
}

// Session returns whose session it is; ok is false where there is none, or none any more. A session that another process ended is gone
// within 4 s.
func (t *Tokens) Session(ctx context.Context, session string) (who journal.Holder, ok bool, err error) {
	return t.holder(ctx, session, sessionKind)
}

// holder returns who holds what is of that kind.
func (t *Tokens) holder(ctx context.Context, secret, kind string) (who journal.Holder, ok bool, err error) {
	hash, now, ended := hashToken(secret), t.now(), t.endings()
	row, found := t.remembered(hash, now)
	if !found {
		if row, err = t.readAndRemember(ctx, hash, kind, now, ended); err != nil {
			return who, false, err
		}
	}
	if row == nil || row.kind != kind || !now.Before(row.expires) {
		return who, false, nil
	}
	return row.holder, true, nil
}

// EndSession ends a session. One that has ended already is no error. While the database is in trouble it is over all the same, and a Store deletes
// it there when it can.
func (t *Tokens) EndSession(ctx context.Context, session string) error {
	hash := hashToken(session)
	defer t.forget()
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

// forget makes sure that everything is read anew.
func (t *Tokens) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.seen)
	t.ended++
}

// remembered returns what waits to be written, else what was read a moment ago; nil is what has ended.
func (t *Tokens) remembered(hash tokenHash, now time.Time) (row *tokenRow, found bool) {
	if t.unsaved != nil {
		if row, known := t.unsaved.of(hash); known {
			return row, true
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s, found := t.seen[hash]
	age := now.Sub(s.readAt)
	return s.tokenRow, found && age >= 0 && age < tokenMemory
}

// endings is how often sessions have ended here so far.
func (t *Tokens) endings() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended
}

// readAndRemember returns nil where there is no such thing. What there is gets remembered, unless a session has ended since there were so many
// endings.
func (t *Tokens) readAndRemember(ctx context.Context, hash tokenHash, kind string, now time.Time, ended int) (*tokenRow, error) {
	row, err := t.read(ctx, hash, kind)
	if row == nil || err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended != ended {
		return row, nil // it may have ended meanwhile
	}
	if len(t.seen) >= tokensRemembered {
		clear(t.seen)
	}
	t.seen[hash] = seenToken{row, now}
	return row, nil
}
