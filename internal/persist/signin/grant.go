package signin

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"maps"
	"slices"

	"github.com/chatguard/chatguard/internal/auth"
)

// Grants returns the tokens, the unused sign-in codes and the sessions that are valid, by name and
// then newest first.
func (t *Tokens) Grants(ctx context.Context) (g auth.Grants, err error) {
	g = auth.Grants{Tokens: []auth.Token{}, Links: []auth.Link{}, Sessions: []auth.Session{}} // empty lists in JSON, never null
	rows, err := t.validRows(ctx)
	if err != nil {
		return g, err
	}
	hashes := slices.SortedFunc(maps.Keys(rows), func(a, b tokenHash) int {
		return cmp.Or(cmp.Compare(rows[a].holder.Name, rows[b].holder.Name), rows[b].made.Compare(rows[a].made))
	})
	for _, hash := range hashes {
		switch row := rows[hash]; row.kind {
		case tokenKind:
			one := auth.Token{Identity: row.holder, Made: row.made}
			if !row.expires.Equal(never) {
				one.Expires = row.expires
			}
			g.Tokens = append(g.Tokens, one)
		case codeKind:
			g.Links = append(g.Links, auth.Link{Identity: row.holder, ID: hash.id(), Made: row.made, Expires: row.expires})
		case sessionKind:
			g.Sessions = append(g.Sessions, auth.Session{Identity: row.holder, ID: hash.id(), Begun: row.made, Expires: row.expires})
		}
	}
	return g, nil
}

// id returns the ID of a session or code, which isn't secret.
func (h tokenHash) id() string { return hex.EncodeToString(h[:auth.IDBytes]) }

// validRows returns the rows that are valid now, by their hashes.
func (t *Tokens) validRows(ctx context.Context) (map[tokenHash]*tokenRow, error) {
	valid := map[tokenHash]*tokenRow{}
	err := t.db.LookUp(ctx, func(rows *sql.Rows) error {
		hash, row, err := scanToken(rows)
		valid[hash] = row
		return err
	}, "SELECT "+tokenColumns+" FROM token WHERE kind <> ? AND expires_at > ?", revokedKind, t.now().UnixNano())
	return valid, err
}

// EndSessionByID ends the session with an ID. ok is false if there is none. It works like
// EndSession.
func (t *Tokens) EndSessionByID(ctx context.Context, id string) (who auth.Identity, ok bool, err error) {
	return t.endByID(ctx, id, sessionKind)
}

// EndLink ends the sign-in code with an ID. ok is false if there is none.
func (t *Tokens) EndLink(ctx context.Context, id string) (who auth.Identity, ok bool, err error) {
	return t.endByID(ctx, id, codeKind)
}

func (t *Tokens) endByID(ctx context.Context, id, kind string) (who auth.Identity, ok bool, err error) {
	rows, err := t.validRows(ctx)
	if err != nil {
		return who, false, err
	}
	for hash, row := range rows {
		if row.kind == kind && hash.id() == id {
			return row.holder, true, t.end(ctx, hash, kind)
		}
	}
	return who, false, nil
}
