package persist

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
)

// SignInTime is how long a sign-in code is valid, unless a shorter time is given.
const SignInTime = 15 * time.Minute

// ErrCode is returned for a sign-in code that isn't valid.
var ErrCode = errors.New("this sign-in code is unknown, used or expired: create a new one with `chatguard signin`")

// NewSignInCode creates a code that allows one sign-in within ttl; 0 means SignInTime. If the
// database is failing, a Store keeps the code in memory.
func (t *Tokens) NewSignInCode(ctx context.Context, who auth.Identity, ttl time.Duration) (code string, err error) {
	ttl = cmp.Or(ttl, SignInTime)
	code = rand.Text()
	who.From = auth.FromLink
	now := t.now()
	hash, row := hashToken(code), &tokenRow{codeKind, who, now, now.Add(ttl), now}
	err = t.storeOrQueue(hash, row, func() error {
		return t.db.write(ctx, func(tx *sql.Tx) error { return insertToken(ctx, tx, hash, row) })
	})
	if err != nil {
		return "", err
	}
	return code, nil
}

// RedeemCode exchanges a code for a session, which lasts SessionTime. If several people redeem the
// same code, one of them gets a session. The others get ErrCode, as for an unknown code. If the
// database is failing, a Store keeps the session in memory.
func (t *Tokens) RedeemCode(ctx context.Context, code string) (session string, who auth.Identity, err error) {
	session = rand.Text()
	from, to := hashToken(code), hashToken(session)
	if t.queue == nil {
		who, err = t.redeem(ctx, from, to)
	} else {
		who, err = t.redeemAnywhere(ctx, from, to)
	}
	if err != nil {
		return "", auth.Identity{}, err
	}
	return session, who, nil
}

// redeemAnywhere exchanges a code in memory if the code is pending or the database is failing,
// otherwise in the database. It handles one code at a time. When the database works again,
// redeemAnywhere must already know which codes were redeemed in memory.
func (t *Tokens) redeemAnywhere(ctx context.Context, code, session tokenHash) (who auth.Identity, err error) {
	if _, known := t.queue.find(code); !known { // random guesses must not delay others
		if stored, err := t.find(ctx, code, codeKind); stored == nil {
			return who, cmp.Or(err, ErrCode)
		}
	}
	select {
	case t.queue.redeeming <- struct{}{}:
		defer func() { <-t.queue.redeeming }()
	case <-ctx.Done():
		return who, ctx.Err()
	}
	who, err = t.queue.redeem(code, session, nil, t.now())
	if _, known := t.queue.find(code); known || err == nil {
		return who, err
	}
	if !t.failing() {
		if who, err = t.redeem(ctx, code, session); !isDatabaseError(err) {
			return who, err
		}
	}
	return t.redeemQueued(ctx, code, session)
}

func (t *Tokens) redeem(ctx context.Context, code, session tokenHash) (who auth.Identity, err error) {
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

// redeemQueued exchanges a code that can be read while the database can't be written.
func (t *Tokens) redeemQueued(ctx context.Context, code, session tokenHash) (who auth.Identity, err error) {
	stored, err := t.find(ctx, code, codeKind)
	if err != nil {
		return who, err
	}
	return t.queue.redeem(code, session, stored, t.now())
}
