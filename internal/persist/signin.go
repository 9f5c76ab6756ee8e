package persist

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"errors"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
)

// SignInTime is how long a sign-in code is good for, unless it is made for less.
const SignInTime = 15 * time.Minute

// signInPatience is how long somebody who signs in waits for a database that a Store can do without.
const signInPatience = time.Second

// ErrCode is the error of a sign-in code that signs nobody in.
var ErrCode = errors.New("this sign-in code is unknown, used or too old: make a new one with `chatguard signin`")

// Tokens are the named tokens, the sign-in codes and the sessions in a database. It is safe for concurrent use, in several processes at a time.
//
// Each of them is 128 random bits or more. The database has only their SHA-256, and they are looked up by it.
type Tokens struct {
	db      *database
	now     func() time.Time
	table   *tokenTable
	unsaved *unsaved    // of a Store, which writes them; nil beside one
	failing func() bool // whether the Store knows that nothing can be written; nil beside one
}

type tokenHash [sha256.Size]byte

func hashToken(token string) tokenHash { return sha256.Sum256([]byte(token)) }

func newTokens(db *database, now func() time.Time) *Tokens {
	t := &Tokens{db: db, now: now, table: newTokenTable(db, now)}
	db.reconnected = t.table.reconnect
	return t
}

// Close closes the database.
func (t *Tokens) Close() error {
	t.table.reconnect() // nobody looks anything up any more
	return t.db.close()
}

// NewSignInCode makes a code that signs somebody in, once, within the time to live; 0 means SignInTime. While the database is in trouble a
// Store keeps it in memory.
func (t *Tokens) NewSignInCode(ctx context.Context, who journal.Holder, ttl time.Duration) (code string, err error) {
	if ttl == 0 {
		ttl = SignInTime
	}
	code = rand.Text()
	now := t.now()
	hash, row := hashToken(code), &tokenRow{codeKind, who, now, now.Add(ttl), now}
	if t.unsaved != nil && t.failing() {
		t.unsaved.put(hash, row)
		return code, nil
	}
	err = t.db.write(ctx, func(tx *sql.Tx) error { return insertToken(ctx, tx, hash, row) })
	switch {
	case t.unsaved != nil && inTrouble(err):
		t.unsaved.put(hash, row)
	case err != nil:
		return "", err
	default:
		t.table.put(map[tokenHash]*tokenRow{hash: row})
	}
	return code, nil
}

// RedeemCode exchanges a code for a session, which lasts SessionTime. Of several who redeem the same code one gets a session; the others' error
// is ErrCode, as for a code that never was. While the database is in trouble a Store keeps the session in memory.
func (t *Tokens) RedeemCode(ctx context.Context, code string) (session string, who journal.Holder, err error) {
	session = rand.Text()
	from, to := hashToken(code), hashToken(session)
	if t.unsaved == nil {
		who, err = t.redeem(ctx, from, to)
	} else {
		who, err = t.redeemHereOrThere(ctx, from, to)
	}
	if err != nil {
		return "", journal.Holder{}, err
	}
	return session, who, nil
}

// redeemHereOrThere exchanges a code in memory, where it waits or the database is in trouble, else in the database. One at a time: whoever finds
// the database well again has to know what was redeemed in memory until then.
func (t *Tokens) redeemHereOrThere(ctx context.Context, code, session tokenHash) (who journal.Holder, err error) {
	if _, known := t.unsaved.of(code); !known { // whoever tries codes at random holds up nobody
		if stored, err := t.find(ctx, code, codeKind); stored == nil {
			return who, cmp.Or(err, ErrCode)
		}
	}
	select {
	case t.unsaved.redeeming <- struct{}{}:
		defer func() { <-t.unsaved.redeeming }()
	case <-ctx.Done():
		return who, ctx.Err()
	}
	who, err = t.unsaved.redeem(code, session, nil, t.now())
	if _, known := t.unsaved.of(code); known || err == nil {
		return who, err
	}
	if !t.failing() {
		if who, err = t.redeem(ctx, code, session); !inTrouble(err) {
			return who, err
		}
	}
	return t.redeemUnsaved(ctx, code, session)
}

func (t *Tokens) redeem(ctx context.Context, code, session tokenHash) (who journal.Holder, err error) {
	var begun *tokenRow
	err = t.write(ctx, func(tx *sql.Tx) error {
		now := t.now()
		row, err := scanToken(tx.QueryRowContext(ctx, "DELETE FROM token WHERE hash = ? AND kind = ? AND expires_at > ? RETURNING "+tokenColumns,
			code[:], codeKind, now.UnixNano()))
		if err != nil {
			return err
		}
		if row == nil {
			return ErrCode
		}
		begun = row.session(now)
		return insertToken(ctx, tx, session, begun)
	})
	if err != nil {
		return who, err
	}
	t.table.put(map[tokenHash]*tokenRow{code: nil, session: begun})
	return begun.holder, nil
}

// write is the database's, which a Store gives up after signInPatience: it has its memory instead.
func (t *Tokens) write(ctx context.Context, change func(*sql.Tx) error) error {
	if t.unsaved == nil {
		return t.db.write(ctx, change)
	}
	return t.db.writeSoon(ctx, signInPatience, change)
}

// redeemUnsaved exchanges a code that can be read, although nothing can be written.
func (t *Tokens) redeemUnsaved(ctx context.Context, code, session tokenHash) (who journal.Holder, err error) {
	stored, err := t.find(ctx, code, codeKind)
	if err != nil {
		return who, err
	}
	return t.unsaved.redeem(code, session, stored, t.now())
}
