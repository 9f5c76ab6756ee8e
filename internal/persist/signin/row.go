package signin

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/persist/statement"
)

// tokenRow is a named token, a code or a session.
type tokenRow struct {
	kind     string
	holder   auth.Identity // with the origin; a session has that of its token or code
	made     time.Time
	expires  time.Time
	rootMade time.Time // of a new session's token or code; otherwise equal to made
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

func isValid(row *tokenRow, now time.Time) bool { return now.Before(row.expires) }

// deleteTokens deletes all tokens, codes and sessions of a name, and counts those that were still
// valid.
func deleteTokens(ctx context.Context, tx *sql.Tx, name string, now time.Time) (ended auth.Revoked, err error) {
	counts := map[string]*int64{tokenKind: &ended.Tokens, codeKind: &ended.Links, sessionKind: &ended.Sessions}
	for kind, count := range counts {
		err := tx.QueryRowContext(ctx, "SELECT count(*) FROM token WHERE kind = ? AND name = ? AND expires_at > ?", kind, name, now.UnixNano()).Scan(count)
		if err != nil {
			return ended, err
		}
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM token WHERE name = ?", name)
	return ended, err
}

// revocationOf returns the key under which the database records that a name was revoked.
func revocationOf(name string) tokenHash { return hashToken("revoked " + name) }

// errRevoked is the error for a token, code or session whose name was revoked after it was created.
var errRevoked = errors.New("the name was revoked")

// insertUnlessRevoked stores a row, or returns errRevoked.
func insertUnlessRevoked(ctx context.Context, tx *sql.Tx, hash tokenHash, row *tokenRow) error {
	revocation, revoked := revocationOf(row.holder.Name), false
	err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM token WHERE hash = ? AND made_at >= ?)", revocation[:], row.rootMade.UnixNano()).Scan(&revoked)
	switch {
	case err != nil:
		return err
	case revoked:
		return errRevoked
	}
	return insertToken(ctx, tx, hash, row)
}

// insertToken stores a row. It keeps only the newest sessions of a name.
func insertToken(ctx context.Context, tx *sql.Tx, hash tokenHash, row *tokenRow) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO token (hash, kind, name, access, origin, made_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
		hash[:], row.kind, row.holder.Name, row.holder.Access, row.holder.From, row.made.UnixNano(), row.expires.UnixNano())
	if err != nil || row.kind != sessionKind {
		return err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM token WHERE kind = $1 AND name = $2 AND hash <> $3 AND hash NOT IN (
		SELECT hash FROM token WHERE kind = $1 AND name = $2 AND hash <> $3 ORDER BY made_at DESC LIMIT $4)`,
		sessionKind, row.holder.Name, hash[:], sessionsKept-1)
	return err
}

// tokenColumns are the columns that scanToken reads.
const tokenColumns = "hash, kind, name, access, origin, made_at, expires_at"

func scanToken(rows *sql.Rows) (hash tokenHash, row *tokenRow, err error) {
	row = &tokenRow{}
	var key []byte
	err = rows.Scan(&key, &row.kind, &row.holder.Name, &row.holder.Access, &row.holder.From, statement.Time(&row.made), statement.Time(&row.expires))
	row.rootMade = row.made
	copy(hash[:], key)
	return hash, row, err
}
