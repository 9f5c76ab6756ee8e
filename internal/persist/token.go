package persist

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
)

// never is when a token expires that was made without an end: the last instant that the database can keep.
var never = timeAt(math.MaxInt64)

// Entrant is who may come in under a name and with a role: by a token, by being signed in, or by a link. The token itself is nowhere any more.
type Entrant struct {
	journal.Holder
	MadeAt    time.Time `json:"made_at,omitzero"`    // of the token; absent, or zero, where there is none
	ExpiresAt time.Time `json:"expires_at,omitzero"` // absent, or zero, when the token never does
	Sessions  int       `json:"sessions"`            // that last
	Links     int       `json:"links"`               // to sign in with, not used yet
}

// Revoked is what Revoke has ended.
type Revoked struct {
	Tokens   int64
	Codes    int64 // for signing in
	Sessions int64
}

// NewToken makes a named token, which holds for the time to live; 0 means until it is revoked. A name that has a token already is refused, and
// while the database is in trouble every name is.
func (t *Tokens) NewToken(ctx context.Context, who journal.Holder, ttl time.Duration) (token string, err error) {
	token = rand.Text()
	now := t.now()
	hash, row := hashToken(token), &tokenRow{tokenKind, who, now, never, now}
	if ttl > 0 {
		row.expires = now.Add(ttl)
	}
	err = t.db.write(ctx, func(tx *sql.Tx) error {
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
			return fmt.Errorf("%q has a token already: end that with `chatguard token revoke`, or take another name", who.Name)
		}
		return insertToken(ctx, tx, hash, row)
	})
	if err != nil {
		return "", err
	}
	t.table.put(map[tokenHash]*tokenRow{hash: row})
	return token, nil
}

// Token returns who holds a named token; ok is false if there is none, or none any more. It never waits for other reads of the database. One that
// another process revoked is gone within 4 s. The error is for a database in trouble that hasn't told of this token before.
func (t *Tokens) Token(ctx context.Context, token string) (who journal.Holder, ok bool, err error) {
	return t.holder(ctx, token, tokenKind)
}

// BeginSession exchanges a named token for a session, which lasts SessionTime and no longer than the token. The session is empty where the token
// is unknown, revoked or has expired. While the database is in trouble a Store keeps the session in memory.
func (t *Tokens) BeginSession(ctx context.Context, token string) (session string, who journal.Holder, err error) {
	row, err := t.find(ctx, hashToken(token), tokenKind)
	if err != nil || row == nil {
		return "", who, err
	}
	session = rand.Text()
	hash, begun := hashToken(session), row.session(t.now())
	if t.unsaved == nil || !t.failing() {
		stored := false
		err = t.write(ctx, func(tx *sql.Tx) (err error) {
			stored, err = insertUnlessRevoked(ctx, tx, hash, begun)
			return err
		})
		switch {
		case t.unsaved != nil && inTrouble(err):
		case err != nil || !stored:
			return "", who, err
		default:
			t.table.put(map[tokenHash]*tokenRow{hash: begun})
			return session, row.holder, nil
		}
	}
	t.unsaved.put(hash, begun)
	return session, row.holder, nil
}

// Entrants returns everybody who has a token, is signed in or may yet sign in with a link, by name and role.
func (t *Tokens) Entrants(ctx context.Context) (list []Entrant, err error) {
	err = t.db.query(ctx, func(rows *sql.Rows) error {
		e, made, expires := Entrant{}, sql.NullInt64{}, sql.NullInt64{}
		if err := rows.Scan(&e.Name, &e.Access, &made, &expires, &e.Sessions, &e.Links); err != nil {
			return err
		}
		e.MadeAt = timeOf(made)
		if expires.Int64 != never.UnixNano() {
			e.ExpiresAt = timeOf(expires)
		}
		list = append(list, e)
		return nil
	}, `SELECT name, access, max(iif(kind = ?1, made_at, NULL)), max(iif(kind = ?1, expires_at, NULL)), sum(kind = ?2), sum(kind = ?3)
		FROM token WHERE kind IN (?1, ?2, ?3) AND expires_at > ?4 GROUP BY name, access ORDER BY name, access`,
		tokenKind, sessionKind, codeKind, t.now().UnixNano())
	return list, err
}

// Names returns everybody, by name, who has a token or is signed in or may yet sign in with a code.
func (t *Tokens) Names(ctx context.Context) (names []string, err error) {
	rows, err := t.db.reader.QueryContext(ctx, "SELECT DISTINCT name FROM token WHERE kind <> ? AND expires_at > ? ORDER BY name",
		revokedKind, t.now().UnixNano())
	if err != nil {
		return nil, explain(t.db.path, err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, explain(t.db.path, err)
		}
		names = append(names, name)
	}
	return names, explain(t.db.path, rows.Err())
}

// Revoke ends the token of a name, its sign-in codes and its sessions, also those that the database's owner hasn't written yet. The owner notices
// within 4 s. It says how many there were.
func (t *Tokens) Revoke(ctx context.Context, name string) (ended Revoked, err error) {
	now := t.now()
	err = t.db.write(ctx, func(tx *sql.Tx) error {
		var err error
		if ended, err = deleteTokens(ctx, tx, name, now); err != nil {
			return err
		}
		// What waits to be written is older than this, and so never will be.
		return insertToken(ctx, tx, revocationOf(name), &tokenRow{revokedKind, journal.Holder{Name: name}, now, now.Add(SessionTime), now})
	})
	if err != nil {
		return Revoked{}, err
	}
	if t.unsaved != nil {
		t.unsaved.revoke(name)
	}
	t.table.revoke(name)
	return ended, nil
}

// deleteTokens deletes all that is in a name, and counts what still held.
func deleteTokens(ctx context.Context, tx *sql.Tx, name string, now time.Time) (ended Revoked, err error) {
	counts := map[string]*int64{tokenKind: &ended.Tokens, codeKind: &ended.Codes, sessionKind: &ended.Sessions}
	for kind, count := range counts {
		err := tx.QueryRowContext(ctx, "SELECT count(*) FROM token WHERE kind = ? AND name = ? AND expires_at > ?", kind, name, now.UnixNano()).Scan(count)
		if err != nil {
			return ended, err
		}
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM token WHERE name = ?", name)
	return ended, err
}

// revocationOf is where the database notes that a name was revoked.
func revocationOf(name string) tokenHash { return hashToken("revoked " + name) }

// insertUnlessRevoked leaves out what was made in a name that has been revoked since; stored is false then.
func insertUnlessRevoked(ctx context.Context, tx *sql.Tx, hash tokenHash, row *tokenRow) (stored bool, err error) {
	revocation, revoked := revocationOf(row.holder.Name), false
	err = tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM token WHERE hash = ? AND made_at >= ?)", revocation[:], row.origin.UnixNano()).Scan(&revoked)
	if err != nil || revoked {
		return false, err
	}
	return true, insertToken(ctx, tx, hash, row)
}

// insertToken stores a row. Of a name's sessions the newest stay.
func insertToken(ctx context.Context, tx *sql.Tx, hash tokenHash, row *tokenRow) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO token (hash, kind, name, access, made_at, expires_at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
		hash[:], row.kind, row.holder.Name, row.holder.Access, row.made.UnixNano(), row.expires.UnixNano())
	if err != nil || row.kind != sessionKind {
		return err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM token WHERE kind = ?1 AND name = ?2 AND hash <> ?3 AND hash NOT IN (
		SELECT hash FROM token WHERE kind = ?1 AND name = ?2 AND hash <> ?3 ORDER BY made_at DESC LIMIT ?4)`,
		sessionKind, row.holder.Name, hash[:], sessionsKept-1)
	return err
}

// tokenColumns are what scanToken reads.
const tokenColumns = "kind, name, access, made_at, expires_at"

// scanToken returns nil where there is no row.
func scanToken(stored *sql.Row) (*tokenRow, error) {
	row, made, expires := &tokenRow{}, int64(0), int64(0)
	err := stored.Scan(&row.kind, &row.holder.Name, &row.holder.Access, &made, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	row.made, row.expires = timeAt(made), timeAt(expires)
	row.origin = row.made
	return row, err
}
