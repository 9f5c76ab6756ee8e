package signin

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

// NewSignInCode creates a code that allows one sign-in within ttl; 0 means SignInTime.
func (t *Tokens) NewSignInCode(ctx context.Context, who auth.Identity, ttl time.Duration) (code string, err error) {
	ttl = cmp.Or(ttl, SignInTime)
	code = rand.Text()
	who.From = auth.FromLink
	now := t.now()
	hash, row := hashToken(code), &tokenRow{codeKind, who, now, now.Add(ttl), now}
	if err := t.store(ctx, hash, row, func(tx *sql.Tx) error { return insertToken(ctx, tx, hash, row) }); err != nil {
		return "", err
	}
	return code, nil
}

// RedeemCode exchanges a code for a session, which lasts SessionTime. If several people redeem the
// same code, one of them gets a session. The others get ErrCode, as for an unknown code.
func (t *Tokens) RedeemCode(ctx context.Context, code string) (session string, who auth.Identity, err error) {
	from := hashToken(code)
	// Look it up before writing, so that random guesses don't delay others.
	row, err := t.find(ctx, from, codeKind)
	if row == nil {
		return "", who, cmp.Or(err, ErrCode)
	}
	session = rand.Text()
	now := t.now()
	to, begun := hashToken(session), row.session(now)
	err = t.store(ctx, to, begun, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, "DELETE FROM token WHERE hash = ? AND kind = ? AND expires_at > ?", from[:], codeKind, now.UnixNano())
		if err != nil {
			return err
		}
		if deleted, err := result.RowsAffected(); err != nil || deleted == 0 {
			return cmp.Or(err, ErrCode)
		}
		return insertToken(ctx, tx, to, begun)
	})
	t.cache.remove(func(h tokenHash, _ *tokenRow) bool { return h == from })
	if err != nil {
		return "", who, err
	}
	return session, begun.holder, nil
}
