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

	// sessionsKept is how many sessions a name has at most. One more ends the oldest.
	sessionsKept = 50
)

// Session returns whose session it is; ok is false if there is none, or none any more. It never waits for other reads of the database. A session that
// another process ended is gone within 4 s. The error is for a database in trouble that hasn't told of this session before.
func (t *Tokens) Session(ctx context.Context, session string) (who journal.Holder, ok bool, err error) {
	return t.holder(ctx, session, sessionKind)
}

// holder returns who holds what is of that kind.
func (t *Tokens) holder(ctx context.Context, secret, kind string) (who journal.Holder, ok bool, err error) {
	row, err := t.find(ctx, hashToken(secret), kind)
	if row == nil {
		return who, false, err
	}
	return row.holder, true, nil
}

// find returns what is of that kind and holds still, nil if nothing is: what waits to be written, else what is stored.
func (t *Tokens) find(ctx context.Context, hash tokenHash, kind string) (row *tokenRow, err error) {
	waits, now := false, t.now()
	if t.unsaved != nil {
		row, waits = t.unsaved.of(hash)
	}
	if !waits {
		if row, err = t.table.row(ctx, hash, now); err != nil {
			return nil, err
		}
	}
	if row == nil || row.kind != kind || !now.Before(row.expires) {
		return nil, nil
	}
	return row, nil
}

// EndSession ends a session. One that has ended already is no error. While the database is in trouble it is over all the same, and a Store deletes
// it there when it can.
func (t *Tokens) EndSession(ctx context.Context, session string) error {
	hash := hashToken(session)
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
	if err == nil {
		t.table.put(map[tokenHash]*tokenRow{hash: nil})
	}
	return err
}
