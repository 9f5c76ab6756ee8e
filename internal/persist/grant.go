package persist

import (
	"cmp"
	"context"
	"encoding/hex"
	"maps"
	"slices"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
)

// Grants returns the tokens, the unused sign-in codes and the sessions that are valid, including
// pending ones, by name and then newest first.
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

// validRows returns the rows that are valid now, including pending ones.
func (t *Tokens) validRows(ctx context.Context) (map[tokenHash]*tokenRow, error) {
	var pending map[tokenHash]*tokenRow
	if t.queue != nil { // read these first, so that none is missed if it is stored in between
		pending = t.queue.peek()
	}
	stored, err := t.table.all(ctx)
	if err != nil {
		return nil, err
	}
	rows := maps.Clone(stored)
	maps.Copy(rows, pending)
	now := t.now()
	maps.DeleteFunc(rows, func(_ tokenHash, row *tokenRow) bool { return row == nil || !isValid(row, now) })
	return rows, nil
}

func isValid(row *tokenRow, now time.Time) bool { return now.Before(row.expires) }

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
