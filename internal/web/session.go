package web

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
)

// Sessions knows who is signed in, and who has a token.
type Sessions interface {
	// RedeemCode exchanges a one-time code for a session. The error is Options.WrongCode where the code is unknown, used or too old.
	RedeemCode(ctx context.Context, code string) (session string, who journal.Holder, err error)
	// BeginSession exchanges a named token for a session, which ends with it. The session is empty where the token is unknown or holds no more.
	BeginSession(ctx context.Context, token string) (session string, who journal.Holder, err error)
	// Session returns whose session it is; ok is false when it has ended. The error is for a Store that can't tell: one that is in trouble tells of those
	// that it knew before. It doesn't wait for other reads of the Store. One that was ended elsewhere may hold for 4 s.
	Session(ctx context.Context, session string) (who journal.Holder, ok bool, err error)
	// Token is Session for a named token.
	Token(ctx context.Context, token string) (who journal.Holder, ok bool, err error)
	// EndSession ends a session. One that has ended already is no error.
	EndSession(ctx context.Context, session string) error
}

// sessionLife is how long a browser keeps its cookie; the Store may end a session sooner.
const sessionLife = 30 * 24 * time.Hour

// ownersKept is how many sessions begun with the Site's token there are at most. One more ends the oldest.
const ownersKept = 50

// begin exchanges a code, or a token, for a session.
func (a *access) begin(r *http.Request, code, token string) (caller, error) {
	session, who, err := a.exchange(r, code, token)
	switch {
	case errors.As(err, new(*problem)):
		return caller{}, err
	case errors.Is(err, a.wrongCode):
		return caller{}, refuse(http.StatusUnauthorized, "This link has been used or is too old. \"chatguard signin\" prints a new one.")
	case err != nil:
		return caller{}, errTroubled("Signing in isn't possible now: the database is in trouble.", err)
	case session == "":
		return caller{}, errToken()
	}
	return caller{name: who.Name, access: who.Access, session: session}, nil
}

func (a *access) exchange(r *http.Request, code, token string) (session string, who journal.Holder, err error) {
	if code != "" {
		return a.store.RedeemCode(r.Context(), code)
	}
	who, isSites, err := a.ofToken(r, token, a.signIns)
	switch {
	case err != nil:
		return "", who, err
	case isSites:
		return a.beginOwners(), who, nil
	case !who.Access.Allows(journal.AccessView): // before a session is stored that would be of no use
		return "", who, refuse(http.StatusForbidden,
			"This token only has messages of another chat judged. To see the dashboard, sign in with one that may view, moderate or own.")
	}
	return a.store.BeginSession(r.Context(), token)
}

func (a *access) beginOwners() string {
	session, now := rand.Text(), a.now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.owners) >= ownersKept {
		delete(a.owners, slices.MinFunc(slices.Collect(maps.Keys(a.owners)), func(x, y string) int { return a.owners[x].Compare(a.owners[y]) }))
	}
	a.owners[session] = now.Add(sessionLife)
	return session
}

// end ends the caller's session.
func (a *access) end(ctx context.Context, who caller) error {
	if who.session == "" {
		return nil
	}
	if a.endOwners(who.session) {
		return nil
	}
	return a.store.EndSession(ctx, who.session)
}

// isOwners reports whether a session was begun with the Site's token, and still holds.
func (a *access) isOwners(session string) bool {
	now := a.now()
	a.mu.Lock()
	defer a.mu.Unlock()
	ends, ok := a.owners[session]
	return ok && now.Before(ends)
}

// endOwners ends a session that was begun with the Site's token, and reports whether it was one.
func (a *access) endOwners(session string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, ok := a.owners[session]
	delete(a.owners, session)
	return ok
}
