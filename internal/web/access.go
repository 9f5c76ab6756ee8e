package web

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
)

// owner is the name of whoever has the Site's token.
const owner = "owner"

// siteOwner is whoever has the Site's token.
var siteOwner = journal.Holder{Name: owner, Access: journal.AccessOwn}

// caller is who sends a request. What they came in with is a session or a token, or the request itself where another site authorizes.
type caller struct {
	name    string
	access  journal.Access
	session string
	token   string
	request *http.Request
}

// access tells who may come in: holders of a session or of a token, or whomever another site lets in.
type access struct {
	site      Site
	authorize func(*http.Request) (journal.Holder, bool) // another site's; nil where there is none
	store     Sessions
	wrongCode error     // the store's, for a code that signs nobody in
	signIns   *attempts // with a code or a token
	bearers   *attempts // by programs: one whose token was revoked keeps nobody beside it from signing in
	now       func() time.Time
	sessions  holders
	tokens    holders // their known have the Site's token among them

	mu     sync.Mutex
	owners map[string]time.Time // sessions begun with the Site's token, and when they end; they live as long as the process
}

func newAccess(opts Options) (*access, error) {
	signIns, err := newAttempts(opts.Now)
	if err != nil {
		return nil, err
	}
	bearers, err := newAttempts(opts.Now)
	a := &access{
		site: opts.Site, authorize: opts.Authorize, store: opts.Store, wrongCode: opts.WrongCode, signIns: signIns, bearers: bearers, now: opts.Now,
		owners: map[string]time.Time{},
	}
	a.sessions = holders{ask: a.askSession, nobody: errSignIn,
		trouble: "Sign-ins can't be looked up now: the database is in trouble. You are signed in again when that is mended."}
	a.tokens = holders{ask: a.askToken, nobody: errToken,
		trouble: "Tokens can't be looked up now: the database is in trouble. They hold again when that is mended."}
	return a, err
}

func errSignIn() error {
	return refuse(http.StatusUnauthorized, "Sign in first: \"chatguard signin\" prints a link.")
}

// errNobody is for whoever brings nothing to come in with: people sign in, and a chat's server has a token.
func errNobody(needs journal.Access) error {
	if needs == journal.AccessCheck {
		return refuse(http.StatusUnauthorized, "Send \"Authorization: Bearer TOKEN\": \"chatguard token make NAME --role check\" makes one.")
	}
	return errSignIn()
}

func errToken() error {
	return refuse(http.StatusUnauthorized, "This token is unknown, was revoked or has expired. \"chatguard token list\" tells which there are.")
}

// errElsewhere is for whoever another site doesn't let in.
func errElsewhere() error {
	return refuse(http.StatusUnauthorized, "Sign in to the site that this dashboard is part of, then load this page again.").mounted()
}

// identify returns who sends the request, or the problem that it is nobody who may come in, to what needs that access.
func (a *access) identify(w http.ResponseWriter, r *http.Request, needs journal.Access) (caller, error) {
	if a.authorize != nil {
		return a.authorized(r)
	}
	if scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		return a.bearer(w, r, strings.TrimSpace(token))
	}
	cookie, err := r.Cookie(cookieName(r))
	if err != nil {
		return caller{}, errNobody(needs)
	}
	who, err := a.sessions.of(r.Context(), cookie.Value, a.now())
	return caller{name: who.Name, access: who.Access, session: cookie.Value}, err
}

// authorized returns whom another site says that the request is from.
func (a *access) authorized(r *http.Request) (caller, error) {
	who, ok := a.authorize(r)
	if !ok {
		return caller{}, errElsewhere()
	}
	return caller{name: who.Name, access: who.Access, request: r}, nil
}

// bearer returns whose token the request brings. One that was good before takes no turn among its address's attempts: whoever asks often, as a
// chat server does, isn't held up by itself.
func (a *access) bearer(w http.ResponseWriter, r *http.Request, token string) (caller, error) {
	who, known := a.tokens.known.lately(token, a.now())
	if known {
		return caller{name: who.Name, access: who.Access, token: token}, nil
	}
	look := func() (err error) {
		who, err = a.tokens.of(r.Context(), token, a.now())
		return err
	}
	var err error
	if _, good := a.tokens.known.holder(token, a.now()); good {
		err = look()
	} else {
		err = a.bearers.try(w, r, a.site.client(r), token, look)
	}
	return caller{name: who.Name, access: who.Access, token: token}, err
}

// still returns the problem that the caller may not come in any more, or that nobody can tell now.
func (a *access) still(ctx context.Context, who caller) (err error) {
	switch {
	case who.request != nil:
		_, err = a.authorized(who.request)
	case who.session != "":
		_, err = a.sessions.of(ctx, who.session, a.now())
	default:
		_, err = a.tokens.of(ctx, who.token, a.now())
	}
	return err
}

// isUnauthorized reports whether an error is that somebody may not come in.
func isUnauthorized(err error) bool {
	var p *problem
	return errors.As(err, &p) && p.Status == http.StatusUnauthorized
}

// askSession is the Store's Session, which doesn't know those begun with the Site's token.
func (a *access) askSession(ctx context.Context, session string) (journal.Holder, bool, error) {
	if a.isOwners(session) {
		return siteOwner, true, nil
	}
	return a.store.Session(ctx, session)
}

// askToken is the Store's Token, which doesn't know the Site's.
func (a *access) askToken(ctx context.Context, token string) (journal.Holder, bool, error) {
	if a.isSites(token) {
		return siteOwner, true, nil
	}
	return a.store.Token(ctx, token)
}

// isSites compares in a time that tells nothing of the Site's token, not even its length.
func (a *access) isSites(token string) bool {
	given, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(a.site.Token))
	return a.site.Token != "" && subtle.ConstantTimeCompare(given[:], want[:]) == 1
}
