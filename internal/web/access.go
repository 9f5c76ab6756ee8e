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
	signIns   *attempts // by people
	bearers   *attempts // by programs: one that guesses keeps nobody beside it from signing in
	now       func() time.Time
	siteHash  secretHash // of the Site's token

	mu     sync.Mutex
	owners map[string]time.Time // sessions begun with the Site's token, and when they end; they live as long as the process
}

func newAccess(opts Options) (*access, error) {
	signIns, err := newAttempts(opts.Now)
	if err != nil {
		return nil, err
	}
	bearers, err := newAttempts(opts.Now)
	return &access{
		site: opts.Site, authorize: opts.Authorize, store: opts.Store, wrongCode: opts.WrongCode, signIns: signIns, bearers: bearers, now: opts.Now,
		siteHash: sha256.Sum256([]byte(opts.Site.Token)), owners: map[string]time.Time{},
	}, err
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
func (a *access) identify(r *http.Request, needs journal.Access) (caller, error) {
	if a.authorize != nil {
		return a.authorized(r)
	}
	if scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		return a.bearer(r, strings.TrimSpace(token))
	}
	cookie, err := r.Cookie(a.site.cookieName(r))
	if err != nil {
		return caller{}, errNobody(needs)
	}
	who, err := a.ofSession(r.Context(), cookie.Value)
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

// bearer returns whose token the request brings.
func (a *access) bearer(r *http.Request, token string) (caller, error) {
	who, _, err := a.ofToken(r, token, a.bearers)
	return caller{name: who.Name, access: who.Access, token: token}, err
}

// ofToken returns whose token it is. Named tokens are random, so that no limit is needed to keep guesses out; one that is right is always let in. Only
// guesses at the Site's token are limited.
func (a *access) ofToken(r *http.Request, token string, guesses *attempts) (who journal.Holder, isSites bool, err error) {
	if a.site.Token != "" && guesses.isRight(a.site.client(r), token, a.isSites) {
		return siteOwner, true, nil // without a question to the database
	}
	who, ok, err := a.store.Token(r.Context(), token)
	if ok {
		return who, false, nil
	}
	wrong := errToken()
	if err != nil {
		wrong = errTroubled("Tokens can't be looked up now: the database is in trouble. They hold again when that is fixed.", err)
	}
	if a.site.Token == "" {
		return who, false, wrong
	}
	if err := guesses.try(r.Context(), a.site.client(r), token, a.isSites, wrong); err != nil {
		return who, false, err
	}
	return siteOwner, true, nil
}

// ofSession returns whose session it is.
func (a *access) ofSession(ctx context.Context, session string) (journal.Holder, error) {
	if a.isOwners(session) {
		return siteOwner, nil
	}
	who, ok, err := a.store.Session(ctx, session)
	switch {
	case err != nil:
		return who, errTroubled("Sign-ins can't be looked up now: the database is in trouble. You are signed in again when that is fixed.", err)
	case !ok:
		return who, errSignIn()
	}
	return who, nil
}

// errTroubled says what the Store can't tell.
func errTroubled(what string, cause error) error {
	return refuse(http.StatusServiceUnavailable, "%s", what).because(cause)
}

// still returns the problem that the caller may not come in any more, or that nobody can tell now.
func (a *access) still(ctx context.Context, who caller) (err error) {
	switch {
	case who.request != nil:
		_, err = a.authorized(who.request)
	case who.session != "":
		_, err = a.ofSession(ctx, who.session)
	case !a.isSites(who.token):
		_, ok, err := a.store.Token(ctx, who.token)
		if err == nil && !ok {
			return errToken()
		}
		return err
	}
	return err
}

// isUnauthorized reports whether an error is that somebody may not come in.
func isUnauthorized(err error) bool {
	var p *problem
	return errors.As(err, &p) && p.Status == http.StatusUnauthorized
}

// isSites compares in a time that tells nothing of the Site's token, not even its length.
func (a *access) isSites(token string) bool {
	given := sha256.Sum256([]byte(token))
	return a.site.Token != "" && subtle.ConstantTimeCompare(given[:], a.siteHash[:]) == 1
}
