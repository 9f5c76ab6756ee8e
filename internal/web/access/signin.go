package access

import (
	"net"
	"net/http"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// maxSecretBody is the maximum size of the body of a sign-in request, in bytes. Anyone may send
// such a request.
const maxSecretBody = 4 << 10

// Secret is the body of a sign-in: either a code or a token.
type Secret struct {
	Code  string `json:"code,omitempty"`
	Token string `json:"token,omitempty"`
}

// SignIn is POST /session: {"code": …} or {"token": …}.
func (a *Authenticator) SignIn(w http.ResponseWriter, r *http.Request) error {
	if a.opts.Authorize != nil {
		return errNoSessions()
	}
	var in Secret
	if err := problem.ReadJSONUpTo(w, r, &in, maxSecretBody); err != nil {
		return err
	}
	if (in.Code == "") == (in.Token == "") {
		return problem.New(http.StatusBadRequest, "Send a code or a token.")
	}
	who, err := a.begin(r, in.Code, in.Token)
	if err != nil {
		return err
	}
	http.SetCookie(w, a.cookie(r, who.session, int(sessionLife.Seconds())))
	return problem.WriteJSON(w, a.signedInAs(who))
}

func errNoSessions() error {
	return problem.New(http.StatusNotFound, "There are no sessions here. Sign in and out on the surrounding site.").ForMounted()
}

// SignOut is DELETE /session. The browser loses its cookie, even if the session can't be ended.
func (a *Authenticator) SignOut(w http.ResponseWriter, r *http.Request, who Caller) error {
	if a.opts.Authorize != nil {
		return errNoSessions()
	}
	http.SetCookie(w, a.cookie(r, "", -1))
	if err := a.end(r.Context(), who); err != nil {
		return problem.New(http.StatusServiceUnavailable,
			"Only this browser is signed out: the database is failing, so the session stays valid for up to 30 days. Once that is fixed, an owner can end it on the Admin page.").Because(err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (a *Authenticator) cookie(r *http.Request, value string, maxAge int) *http.Cookie {
	return a.opts.Site.Cookie(r, sessionCookie, value, maxAge, http.SameSiteStrictMode)
}

// sessionCookie is the name of the session cookie, which CookieName completes.
const sessionCookie = "chatguard"

// Cookie returns a cookie for the dashboard and everything below it. A maxAge below 0 deletes the
// cookie.
func (s Site) Cookie(r *http.Request, name, value string, maxAge int, sameSite http.SameSite) *http.Cookie {
	return &http.Cookie{
		Name:     s.CookieName(r, name),
		Value:    value,
		Path:     s.mount(),
		MaxAge:   maxAge,
		HttpOnly: true,
		Secure:   s.isSecure(r),
		SameSite: sameSite,
	}
}

// CookieName returns the full name of a cookie. It differs between chatguards on one machine,
// because cookies do not depend on ports. Browsers accept a cookie with the prefix __Host- only
// from the host itself, so another host of the same domain cannot override it. This prefix requires
// the path / and an encrypted connection.
func (s Site) CookieName(r *http.Request, name string) string {
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		name += "_" + port
	}
	if s.mount() == "/" && s.isSecure(r) {
		return "__Host-" + name
	}
	return name
}

// SignedInAs describes the signed-in caller and the kind of site.
type SignedInAs struct {
	auth.Identity
	// Author is the name under which the caller's changes are recorded.
	Author string `json:"author"`
	// All is the caller's access to the whole installation; absent if there is none.
	All auth.Access `json:"all,omitempty"`
	// Mounted is true if the dashboard is part of another site, on which people sign in and out.
	Mounted bool `json:"mounted,omitempty"`
}

// GetSession is GET /session: who is signed in and what they may do.
func (a *Authenticator) GetSession(w http.ResponseWriter, _ *http.Request, who Caller) error {
	return problem.WriteJSON(w, a.signedInAs(who))
}

func (a *Authenticator) signedInAs(who Caller) SignedInAs {
	return SignedInAs{who.Identity, who.Author(), who.InAll(), a.opts.Authorize != nil}
}
