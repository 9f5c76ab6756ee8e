package faketwitch

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

// identityServer is who gives tokens out and says whose they are. The Server's mu guards it.
type identityServer struct {
	access    map[string]*accessToken  // by token
	refresh   map[string]*refreshToken // unused ones, by token
	devices   map[string]*device       // by device code
	lastID    int                      // of a token or a device
	refreshed int                      // access tokens given out for a refresh token
	vague     bool                     // tells who asks too early that the device code is invalid
	life      time.Duration            // of a device code
	interval  time.Duration            // at which it may be asked about
	failing   *Fault                   // what every request is answered with; nil for none
	next      []Fault                  // the same for the next requests, one each
}

// authCall is one request to the identity server.
type authCall struct {
	at    time.Time
	token string // of the Authorization header
	form  url.Values
}

// authRoutes are the identity server's endpoints.
func (s *Server) authRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /oauth2/validate", s.serveAuth(s.validateToken))
	mux.HandleFunc("POST /oauth2/device", s.serveAuth(s.beginDevice))
	mux.HandleFunc("POST /oauth2/token", s.serveAuth(s.giveToken))
}

// serveAuth records a request, and answers it with a fault that is due, or with what the endpoint does. The endpoint runs while mu is held.
func (s *Server) serveAuth(endpoint func(authCall) reply) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		asked, arrived := s.arrive(r)
		c := authCall{at: arrived.at}
		_, c.token, _ = strings.Cut(r.Header.Get("Authorization"), " ")
		c.form, _ = url.ParseQuery(string(arrived.body)) // what can't be read is missing, and refused as that
		s.mu.Lock()
		add(&s.asked.requests, asked)
		fault, faulty := s.auth.takeFault()
		var answer reply
		if !faulty || fault.After || fault.Status == AsAsked {
			answer = endpoint(c)
		}
		if faulty && fault.Status != AsAsked {
			answer = refuseAuth(fault.Status, fault.Message)
		}
		asked.Status = answer.status
		s.mu.Unlock()
		fault.stall(r.Context())
		answer.deliver(w, fault.Cut)
	}
}

// refuseAuth is a refusal in the identity server's form, which differs from Helix's.
func refuseAuth(status int, message string) reply {
	return reply{status: status, body: map[string]any{"status": status, "message": message}}
}

// takeFault takes the next fault, if there is one.
func (a *identityServer) takeFault() (Fault, bool) {
	if len(a.next) > 0 {
		next := a.next[0]
		a.next = a.next[1:]
		return next, true
	}
	if a.failing != nil {
		return *a.failing, true
	}
	return Fault{}, false
}

// FailNextAuth lets the identity server answer its next requests with these faults, one each.
func (s *Server) FailNextAuth(list ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.auth.next = append(s.auth.next, list...)
}

// FailAuth lets the identity server answer every request with this fault, until it is given nil.
func (s *Server) FailAuth(fault *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.auth.failing = fault
}

// validateToken says whose a token is.
func (s *Server) validateToken(c authCall) reply {
	token, ok := s.liveToken(c.token)
	if !ok {
		return refuseAuth(http.StatusUnauthorized, "invalid access token")
	}
	return reply{status: http.StatusOK, body: map[string]any{
		"client_id": s.opts.ClientID, "login": token.owner.login, "scopes": token.scopes, "user_id": token.owner.id,
		"expires_in": seconds(token.expires.Sub(c.at)),
	}}
}

// giveToken gives a pair of tokens for a device code or a refresh token.
func (s *Server) giveToken(c authCall) reply {
	switch {
	case c.form.Get("client_id") == "":
		return refuseAuth(http.StatusBadRequest, "missing client id")
	case c.form.Get("client_id") != s.opts.ClientID:
		return refuseAuth(http.StatusBadRequest, "invalid client")
	}
	switch c.form.Get("grant_type") {
	case "urn:ietf:params:oauth:grant-type:device_code":
		return s.giveForDevice(c)
	case "refresh_token":
		return s.giveForRefresh(c)
	}
	return refuseAuth(http.StatusBadRequest, "Invalid grant type")
}
