package access

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// Sessions looks up who is signed in and who holds a token.
type Sessions interface {
	// RedeemCode exchanges a one-time code for a session. The error is Options.WrongCode if the
	// code is unknown, used or too old.
	RedeemCode(ctx context.Context, code string) (session string, who auth.Identity, err error)
	// BeginSession exchanges a named token for a session, which ends with the token. The session is
	// empty if the token is unknown or no longer valid.
	BeginSession(ctx context.Context, token string) (session string, who auth.Identity, err error)
	// Session returns the holder of a session. ok is false if the session has ended. An error means
	// that the Store cannot look up this session now. The Store still recognizes sessions that it
	// looked up before. Session does not wait for other reads of the Store. A session that another
	// process ended may stay valid for 4 s.
	Session(ctx context.Context, session string) (who auth.Identity, ok bool, err error)
	// Token is like Session, but for a named token.
	Token(ctx context.Context, token string) (who auth.Identity, ok bool, err error)
	// EndSession ends a session. It returns no error if the session has already ended.
	EndSession(ctx context.Context, session string) error
}

// sessionLife is how long a browser keeps its cookie; the Store may end a session sooner.
const sessionLife = 30 * 24 * time.Hour

// ownersKept is the maximum number of sessions that were started with the Site's token. A further
// session ends the oldest one.
const ownersKept = 50

// begin exchanges a code or a token for a session.
func (a *Authenticator) begin(r *http.Request, code, token string) (Caller, error) {
	session, who, err := a.exchange(r, code, token)
	switch {
	case errors.As(err, new(*problem.Problem)):
		return Caller{}, err
	case errors.Is(err, a.opts.WrongCode):
		return Caller{}, problem.New(http.StatusUnauthorized, "This link has been used or is too old. \"chatguard signin\" prints a new one.")
	case err != nil:
		return Caller{}, errUnavailable("Signing in isn't possible now: the database is failing.", err)
	case session == "":
		return Caller{}, a.errToken()
	}
	return Caller{Identity: who, session: session}, nil
}

func (a *Authenticator) exchange(r *http.Request, code, token string) (session string, who auth.Identity, err error) {
	if code != "" {
		return a.opts.Sessions.RedeemCode(r.Context(), code)
	}
	who, isSites, err := a.tokenHolder(r, token, a.signIns)
	switch {
	case err != nil:
		return "", who, err
	case isSites:
		return a.beginOwnerSession(), who, nil
	case !who.Access.Allows(auth.View): // check before a useless session is stored
		return "", who, problem.New(http.StatusForbidden,
			"This token doesn't open the dashboard. For the dashboard, sign in with a token of the role view, help, moderate or own.")
	}
	return a.opts.Sessions.BeginSession(r.Context(), token)
}

func (a *Authenticator) beginOwnerSession() string {
	session, now := rand.Text(), a.opts.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.owners) >= ownersKept {
		delete(a.owners, slices.MinFunc(slices.Collect(maps.Keys(a.owners)), func(x, y string) int { return a.owners[x].Compare(a.owners[y]) }))
	}
	a.owners[session] = now.Add(sessionLife)
	return session
}

// end ends the caller's session.
func (a *Authenticator) end(ctx context.Context, who Caller) error {
	if who.session == "" {
		return nil
	}
	if a.endOwnerSession(who.session) {
		return nil
	}
	if a.isMember(who.session) {
		a.opts.Members.End(who.session)
		return nil
	}
	return a.opts.Sessions.EndSession(ctx, who.session)
}

// isOwnerSession reports whether a session was started with the Site's token and is still valid.
func (a *Authenticator) isOwnerSession(session string) bool {
	now := a.opts.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	ends, ok := a.owners[session]
	return ok && now.Before(ends)
}

// endOwnerSession ends a session that was started with the Site's token. It returns false for any
// other session.
func (a *Authenticator) endOwnerSession(session string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, ok := a.owners[session]
	delete(a.owners, session)
	return ok
}
