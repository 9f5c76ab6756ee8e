// Package access decides who may use the dashboard: holders of sessions and tokens, or users whom
// another site authorizes. It knows the site's addresses and listens at them. It limits connections
// and guesses at the Site's token, and refuses requests from other sites' pages. It must not know
// what the requests do.
package access

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/language"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// siteOwner is the holder of the Site's token.
var siteOwner = auth.Identity{Name: auth.OwnerName, Access: auth.Own, From: auth.FromOwner}

// Caller is the sender of a request. A session or a token identifies the caller. If another site
// authorizes requests, the request itself does.
type Caller struct {
	auth.Identity
	session string
	token   string
	request *http.Request
	// may reports whether an identity still has the access that admitted the request.
	may func(auth.Identity) bool
}

// Options configures an Authenticator. Authorize, Members and NodesShare may be zero; the other
// fields are required.
type Options struct {
	Site Site // how the dashboard is reached and protected

	// Authorize identifies the sender of a request if the dashboard is part of another site. ok is
	// false if the sender has no access. Authorize is called for each request. While a live feed is
	// open, it is called repeatedly with the request that opened the feed. If Authorize is nil, the
	// Sessions and the Site's token decide.
	Authorize func(*http.Request) (who auth.Identity, ok bool)

	Sessions Sessions // identifies callers, even if the database fails
	// Members are people whose sessions another source keeps. Nil means that there are none.
	Members Members
	// WrongCode is the error that Sessions.RedeemCode returns, directly or wrapped, for an invalid
	// code.
	WrongCode error
	// NodesShare says that other nodes share limits with this one. Those nodes have their own
	// Sessions.
	NodesShare bool
	Now        func() time.Time
	Log        *slog.Logger
}

// Authenticator decides who may use the API: holders of a session or a token, or users whom another
// site authorizes. It is safe for concurrent use. Create one with New.
type Authenticator struct {
	opts    Options
	signIns *attempts // sign-ins by people
	// bearers limits the guesses of programs. It is separate from signIns, so that a program that
	// guesses tokens does not block sign-ins from its address.
	bearers  *attempts
	siteHash secretHash // hash of the Site's token
	proxied  sync.Once  // used to log the first request via an untrusted proxy
	uses     uses

	mu sync.Mutex
	// owners maps each session that was started with the Site's token to its expiry time. When the
	// process ends, these sessions end too.
	owners map[string]time.Time
}

// New returns an Authenticator.
func New(opts Options) (*Authenticator, error) {
	signIns, err := newAttempts(opts.Now)
	if err != nil {
		return nil, err
	}
	bearers, err := newAttempts(opts.Now)
	return &Authenticator{
		opts: opts, signIns: signIns, bearers: bearers, siteHash: sha256.Sum256([]byte(opts.Site.Token)), owners: map[string]time.Time{},
	}, err
}

// Handler handles requests of identified callers.
type Handler func(w http.ResponseWriter, r *http.Request, who Caller) error

// Scope returns what a person may do in the channels that a request is about. The error is a
// problem if the request names no channel, or one that is invisible to the person.
type Scope func(r *http.Request, who auth.Identity) (auth.Access, error)

// Installation is the Scope of requests that are about the whole installation.
func Installation(_ *http.Request, who auth.Identity) (auth.Access, error) { return who.InAll(), nil }

// Require admits only callers with the access that a route needs in its Scope. The Handler gets a
// Caller with the access in this Scope.
func (a *Authenticator) Require(needs auth.Access, scope Scope, h Handler) problem.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		who, err := a.Identify(r, needs)
		if err != nil {
			return err
		}
		a.recordUse(who)
		if who.Access, err = scope(r, who.Identity); err != nil {
			return err
		}
		if !who.Access.Allows(needs) {
			return errForbidden(who, needs)
		}
		who.may = func(now auth.Identity) bool {
			access, err := scope(r, now)
			return err == nil && access.Allows(needs)
		}
		return h(w, r, who)
	}
}

// CheckAll returns a problem unless the caller has the access that something needs in the whole
// installation.
func CheckAll(who Caller, needs auth.Access) error {
	if who.Access = who.InAll(); !who.Access.Allows(needs) {
		return errForbidden(who, needs)
	}
	return nil
}

// recordUse records that the caller's token or session is used.
func (a *Authenticator) recordUse(who Caller) {
	switch {
	case who.session != "":
		a.uses.record(SessionID(who.session), a.opts.Now())
	case who.token != "" && who.From == auth.FromToken:
		a.uses.record(tokenUse(who.Identity), a.opts.Now())
	}
}

// errForbidden returns the problem for a caller without the access that a route needs.
func errForbidden(who Caller, needs auth.Access) error {
	if who.Access == auth.Any {
		return problem.New(http.StatusForbidden, "%s has access to single channels; this needs %s access to the whole installation. Name its owners in [web] owners, or sign in with a link from \"chatguard signin\".", who.Name, inWords(needs))
	}
	return problem.New(http.StatusForbidden, "%s has %s access; this needs %s access.", who.Name, who.Access, inWords(needs))
}

// inWords returns an access as people read it.
func inWords(a auth.Access) any {
	if a == auth.Own {
		return language.Sentence("owner")
	}
	return a
}

func errSignIn() error {
	return problem.New(http.StatusUnauthorized, "Sign in first: \"chatguard signin\" prints a link.")
}

// errNoCredentials returns the problem for a request without credentials. The text depends on
// needs: people sign in, and a chat server sends a token.
func errNoCredentials(needs auth.Access) error {
	if needs == auth.Check {
		return problem.New(http.StatusUnauthorized, "Send \"Authorization: Bearer TOKEN\": \"chatguard token make NAME --role check\" makes one.")
	}
	return errSignIn()
}

// errToken returns the problem for a token that isn't valid.
func (a *Authenticator) errToken() error {
	const unknown = language.Sentence("This token is unknown, was revoked or has expired. \"chatguard token list\" lists the tokens that work.")
	if a.opts.NodesShare {
		return problem.New(http.StatusUnauthorized, "%s %s", unknown, language.Sentence("A token works on the node that made it."))
	}
	return problem.New(http.StatusUnauthorized, "%s", unknown)
}

// errNotAuthorized returns the problem for a request that another site does not authorize.
func errNotAuthorized() error {
	return problem.New(http.StatusUnauthorized, "Sign in to the surrounding site, then reload this page.").ForMounted()
}

// Identify returns the sender of the request, or a problem if the sender has no access. needs is
// the access that the request requires.
func (a *Authenticator) Identify(r *http.Request, needs auth.Access) (Caller, error) {
	if a.opts.Authorize != nil {
		return a.Authorized(r)
	}
	if scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		return a.bearer(r, strings.TrimSpace(token))
	}
	cookie, err := r.Cookie(a.opts.Site.CookieName(r, sessionCookie))
	if err != nil {
		return Caller{}, errNoCredentials(needs)
	}
	who, err := a.sessionHolder(r.Context(), cookie.Value, needs)
	return Caller{Identity: who, session: cookie.Value}, err
}

// Authorized returns the sender of the request as the other site identifies them.
func (a *Authenticator) Authorized(r *http.Request) (Caller, error) {
	who, ok := a.opts.Authorize(r)
	if !ok {
		return Caller{}, errNotAuthorized()
	}
	return Caller{Identity: who, request: r}, nil
}

// bearer returns the holder of the request's token.
func (a *Authenticator) bearer(r *http.Request, token string) (Caller, error) {
	who, _, err := a.tokenHolder(r, token, a.bearers)
	return Caller{Identity: who, token: token}, err
}

// tokenHolder returns the holder of a token. Only guesses at the Site's token are limited. Named
// tokens are random, so guesses at them need no limit, and a valid named token is always accepted.
func (a *Authenticator) tokenHolder(r *http.Request, token string, guesses *attempts) (who auth.Identity, isSites bool, err error) {
	if a.opts.Site.Token != "" && guesses.isRight(r.Context(), a.opts.Site.Client(r), token, a.isSiteToken) {
		return siteOwner, true, nil // no database query needed
	}
	who, ok, err := a.opts.Sessions.Token(r.Context(), token)
	if ok {
		return who, false, nil
	}
	wrong := a.errToken()
	if err != nil {
		wrong = errUnavailable("Tokens can't be checked now: the database is failing. They work again once that is fixed.", err)
	}
	if a.opts.Site.Token == "" {
		return who, false, wrong
	}
	if err := guesses.try(r.Context(), a.opts.Site.Client(r), token, a.isSiteToken, wrong); err != nil {
		return who, false, err
	}
	return siteOwner, true, nil
}

// sessionHolder returns the holder of a session. needs is the access that the request requires.
func (a *Authenticator) sessionHolder(ctx context.Context, session string, needs auth.Access) (auth.Identity, error) {
	if a.isOwnerSession(session) {
		return siteOwner, nil
	}
	find := a.opts.Sessions.Session
	switch isMember := a.isMember(session); {
	case isMember && auth.View.Allows(needs):
		find = a.opts.Members.Holder
	case isMember:
		find = a.opts.Members.Confirm
	}
	who, ok, err := find(ctx, session)
	switch {
	case errors.As(err, new(*problem.Problem)):
		return who, err
	case err != nil:
		return who, errUnavailable("Sign-ins can't be checked now: the database is failing. You will be signed in again once that is fixed.", err)
	case !ok:
		return who, errSignIn()
	}
	return who, nil
}

// errUnavailable returns the problem for a look-up that the Store cannot do now.
func errUnavailable(what language.Sentence, cause error) error {
	return problem.New(http.StatusServiceUnavailable, "%s", what).Because(cause)
}

// Again returns the caller's present identity. ok is false if the caller no longer has the access
// that admitted the request. While the store is unavailable, Again returns the previous identity,
// so that nobody is signed out.
func (a *Authenticator) Again(ctx context.Context, who Caller) (now auth.Identity, ok bool) {
	now, err := a.identifyAgain(ctx, who)
	var p *problem.Problem
	switch {
	case errors.As(err, &p) && p.Status == http.StatusUnauthorized:
		return now, false
	case err != nil:
		return who.Identity, true
	}
	return now, who.may == nil || who.may(now)
}

func (a *Authenticator) identifyAgain(ctx context.Context, who Caller) (auth.Identity, error) {
	switch {
	case who.request != nil:
		now, err := a.Authorized(who.request)
		return now.Identity, err
	case who.session != "":
		return a.sessionHolder(ctx, who.session, auth.Any)
	case a.isSiteToken(who.token):
		return siteOwner, nil
	}
	now, ok, err := a.opts.Sessions.Token(ctx, who.token)
	if err == nil && !ok {
		err = a.errToken()
	}
	return now, err
}

// isSiteToken reports whether token is the Site's token. It compares them in constant time, so that
// timing reveals neither the content nor the length of the Site's token.
func (a *Authenticator) isSiteToken(token string) bool {
	given := sha256.Sum256([]byte(token))
	return a.opts.Site.Token != "" && subtle.ConstantTimeCompare(given[:], a.siteHash[:]) == 1
}
