package web

import (
	"net"
	"net/http"

	"github.com/chatguard/chatguard/internal/journal"
)

// secret is what somebody signs in with: one of the two.
type secret struct {
	Code  string `json:"code,omitempty"`
	Token string `json:"token,omitempty"`
}

// signIn is POST /session: {"code": …} or {"token": …}.
func (s *Server) signIn(w http.ResponseWriter, r *http.Request) error {
	if s.opts.Authorize != nil {
		return errNoSessions()
	}
	var in secret
	if err := readJSONUpTo(w, r, &in, maxSecretBody); err != nil {
		return err
	}
	if (in.Code == "") == (in.Token == "") {
		return refuse(http.StatusBadRequest, "Send a code or a token.")
	}
	who, err := s.access.begin(r, in.Code, in.Token)
	if err != nil {
		return err
	}
	http.SetCookie(w, s.cookie(r, who.session, int(sessionLife.Seconds())))
	return writeJSON(w, journal.Holder{Name: who.name, Access: who.access})
}

func errNoSessions() error {
	return refuse(http.StatusNotFound, "There are no sessions here: people sign in and out on the site that this dashboard is part of.").mounted()
}

// signOut is DELETE /session.
func (s *Server) signOut(w http.ResponseWriter, r *http.Request, who caller) error {
	if s.opts.Authorize != nil {
		return errNoSessions()
	}
	if err := s.access.end(r.Context(), who); err != nil {
		return refuse(http.StatusServiceUnavailable, "Signing out isn't possible now: the database is in trouble.").because(err)
	}
	http.SetCookie(w, s.cookie(r, "", -1))
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *Server) cookie(r *http.Request, value string, maxAge int) *http.Cookie {
	return &http.Cookie{
		Name:     s.opts.Site.cookieName(r),
		Value:    value,
		Path:     s.opts.Site.mount(),
		MaxAge:   maxAge,
		HttpOnly: true,
		Secure:   s.opts.Site.isSecure(r),
		SameSite: http.SameSiteStrictMode,
	}
}

// cookieName tells several chatguards on one machine apart: cookies don't know ports. Browsers take one with the prefix from this very host only: another
// host of the same domain can't lay its own over it. They ask for the path / and an encrypted connection then.
func (s Site) cookieName(r *http.Request) string {
	name := "chatguard"
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		name += "_" + port
	}
	if s.mount() == "/" && s.isSecure(r) {
		return "__Host-" + name
	}
	return name
}

// signedInAs is who is signed in, and where.
type signedInAs struct {
	journal.Holder
	Mounted bool `json:"mounted,omitempty"` // the dashboard is part of another site, where people sign in and out
}

// getSession is GET /session: who is signed in, and what they may do.
func (s *Server) getSession(w http.ResponseWriter, _ *http.Request, who caller) error {
	return writeJSON(w, signedInAs{journal.Holder{Name: who.name, Access: who.access}, s.opts.Authorize != nil})
}
