package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Sessions knows who is signed in.
type Sessions interface {
	// RedeemCode exchanges a one-time code for a session. The error is Options.WrongCode where the code is unknown, used or too old.
	RedeemCode(ctx context.Context, code string) (session, name string, err error)
	// Session returns whose session it is; ok is false when it has ended. The error is for a Store that can't tell.
	Session(ctx context.Context, session string) (name string, ok bool, err error)
	// EndSession ends a session. One that has ended already is no error.
	EndSession(ctx context.Context, session string) error
}

// owner is the name of whoever has the Site's token.
const owner = "owner"

// sessionLife is how long a browser keeps its cookie; the Store may end a session sooner.
const sessionLife = 30 * 24 * time.Hour

// caller is who sends a request.
type caller struct {
	name    string
	session string // empty when the request brings the token itself
}

// lookUpTime is how long the Store may take to tell whose session it is.
const lookUpTime = time.Second

// access tells who may come in: holders of a session or of the token.
type access struct {
	site      Site
	store     Sessions
	wrongCode error // the store's, for a code that signs nobody in
	attempts  *attempts
	now       func() time.Time
	known     known // whose sessions the Store has told so far

	mu     sync.Mutex
	owners map[string]time.Time // sessions begun with the token, and when they end; they live as long as the process
}

func newAccess(opts Options) (*access, error) {
	tries, err := newAttempts(opts.Now)
	return &access{
		site: opts.Site, store: opts.Store, wrongCode: opts.WrongCode, attempts: tries, now: opts.Now, owners: map[string]time.Time{},
	}, err
}

// identify returns who sends the request, or the problem that it is nobody who may come in.
func (a *access) identify(w http.ResponseWriter, r *http.Request) (caller, error) {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return caller{name: owner}, a.try(w, r, func() error { return a.checkToken(token) })
	}
	cookie, err := r.Cookie(cookieName(r))
	if err != nil {
		return caller{}, errSignIn()
	}
	who := caller{session: cookie.Value}
	who.name, err = a.sessionName(r.Context(), cookie.Value)
	return who, err
}

// sessionName returns whose session it is, or errSignIn's problem when it has ended. Trouble with the Store signs nobody out: who was known
// before it began stays in.
func (a *access) sessionName(ctx context.Context, session string) (string, error) {
	now := a.now()
	if a.isOwners(session, now) {
		return owner, nil
	}
	name, isKnown := a.known.name(session, now)
	if isKnown && a.known.isPausing(now) {
		return name, nil
	}
	limited, cancel := context.WithTimeout(ctx, lookUpTime)
	defer cancel()
	endings := a.known.endings()
	told, ok, err := a.store.Session(limited, session)
	switch {
	case err != nil && ctx.Err() == nil && isKnown:
		a.known.pause(now)
		return name, nil
	case err != nil:
		return "", refuse(http.StatusServiceUnavailable,
			"Sign-ins can't be looked up now: the database is in trouble. You are signed in again when that is mended.").because(err)
	case !ok:
		a.known.forget(session)
		return "", errSignIn()
	}
	a.known.remember(session, told, now, endings)
	return told, nil
}

// isOwners reports whether a session was begun with the token, and still holds.
func (a *access) isOwners(session string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	ends, ok := a.owners[session]
	return ok && now.Before(ends)
}

func errSignIn() error {
	return refuse(http.StatusUnauthorized, "Sign in first: \"chatguard signin\" prints a link.")
}

// try runs a check of something secret, unless too many of the address's have failed.
func (a *access) try(w http.ResponseWriter, r *http.Request, check func() error) error {
	addr := a.site.client(r)
	end, err := a.attempts.begin(r.Context(), addr)
	if err != nil {
		return err
	}
	defer end()
	if err := a.attempts.allow(w, addr); err != nil {
		return err
	}
	err = check()
	if p := (*problem)(nil); errors.As(err, &p) && p.Status == http.StatusUnauthorized {
		return errors.Join(err, a.attempts.failed(r.Context(), addr))
	}
	return err
}

// checkToken compares in a time that tells nothing of the token, not even its length.
func (a *access) checkToken(token string) error {
	given, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(a.site.Token))
	if a.site.Token == "" || subtle.ConstantTimeCompare(given[:], want[:]) != 1 {
		return refuse(http.StatusUnauthorized, "That token isn't the one that chatguard was started with.")
	}
	return nil
}

// begin exchanges a code, or the token, for a session.
func (a *access) begin(ctx context.Context, code, token string) (caller, error) {
	if code == "" {
		if err := a.checkToken(token); err != nil {
			return caller{}, err
		}
		return caller{name: owner, session: a.beginOwners()}, nil
	}
	endings := a.known.endings()
	session, name, err := a.store.RedeemCode(ctx, code)
	switch {
	case errors.Is(err, a.wrongCode):
		return caller{}, refuse(http.StatusUnauthorized, "This link has been used or is too old. \"chatguard signin\" prints a new one.")
	case err != nil:
		return caller{}, refuse(http.StatusServiceUnavailable, "Signing in isn't possible now: the database is in trouble.").because(err)
	}
	a.known.remember(session, name, a.now(), endings)
	return caller{name: name, session: session}, nil
}

func (a *access) beginOwners() string {
	session, now := rand.Text(), a.now()
	a.mu.Lock()
	defer a.mu.Unlock()
	for old, ends := range a.owners {
		if !now.Before(ends) {
			delete(a.owners, old)
		}
	}
	a.owners[session] = now.Add(sessionLife)
	return session
}

// end ends the caller's session.
func (a *access) end(ctx context.Context, who caller) error {
	if who.session == "" || a.endOwners(who.session) {
		return nil
	}
	if err := a.store.EndSession(ctx, who.session); err != nil {
		return err
	}
	a.known.forget(who.session)
	return nil
}

// endOwners ends a session that was begun with the token, and reports whether it was one.
func (a *access) endOwners(session string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, ok := a.owners[session]
	delete(a.owners, session)
	return ok
}
