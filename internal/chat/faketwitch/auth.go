package faketwitch

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

// identityServer issues and validates tokens. The Server's mu guards it.
type identityServer struct {
	*state
	access    map[string]*token         // by access token
	refresh   map[string]*token         // by unused refresh token
	devices   map[string]*device        // by device code
	codes     map[string]*authorization // unused authorization codes, by code
	redirects map[string]bool           // registered addresses for authorization codes
	lastID    int                       // of a token, a device or a code
	refreshed int                       // how many refresh tokens were exchanged
	// vague means that a client that polls before the approval is told that the device code is
	// invalid.
	vague    bool
	life     time.Duration // lifetime of a device code
	interval time.Duration // polling interval for a device code
	faults   faults
}

func newIdentityServer(s *state) identityServer {
	return identityServer{
		state:  s,
		access: make(map[string]*token), refresh: make(map[string]*token), devices: make(map[string]*device),
		codes: make(map[string]*authorization), redirects: make(map[string]bool),
		life: deviceLife, interval: deviceInterval,
	}
}

// authCall is a request to the identity server.
type authCall struct {
	at    time.Time
	token string // from the Authorization header
	form  url.Values
}

// serveAuth records a request and answers it with a pending fault, or with the endpoint's result.
// The endpoint runs while mu is held.
func (s *identityServer) serveAuth(endpoint func(authCall) reply) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		asked, arrived := s.receive(r)
		c := authCall{at: arrived.at}
		_, c.token, _ = strings.Cut(r.Header.Get("Authorization"), " ")
		c.form, _ = url.ParseQuery(string(arrived.body)) // invalid fields count as missing
		s.mu.Lock()
		add(&s.asked.requests, asked)
		fault := s.faults.take(*asked)
		answer := fault.answer(authRefusal, func() reply { return endpoint(c) })
		asked.Status = answer.status
		s.mu.Unlock()
		fault.stall(r.Context())
		answer.deliver(w, fault.Cut)
	}
}

// authRefusal returns a refusal in the identity server's format, which differs from Helix's.
func authRefusal(status int, message string) reply {
	return reply{status: status, body: map[string]any{"status": status, "message": message}}
}

// FailNextAuth makes the identity server answer its next requests with these faults, one each.
func (s *identityServer) FailNextAuth(list ...Fault) {
	s.locked(func() { s.faults.next = append(s.faults.next, list...) })
}

// FailAuth makes the identity server answer every request with this fault. Nil ends the fault.
func (s *identityServer) FailAuth(fault *Fault) {
	var decide func(Request) (Fault, bool)
	if fault != nil {
		decide = func(Request) (Fault, bool) { return *fault, true }
	}
	s.locked(func() { s.faults.decide = decide })
}

// validateToken returns the owner of a token.
func (s *identityServer) validateToken(c authCall) reply {
	token, ok := s.liveToken(c.token)
	if !ok {
		return authRefusal(http.StatusUnauthorized, "invalid access token")
	}
	return reply{status: http.StatusOK, body: map[string]any{
		"client_id": s.opts.ClientID, "login": token.owner.login, "scopes": token.scopes, "user_id": token.owner.id,
		"expires_in": seconds(token.expires.Sub(c.at)),
	}}
}

// giveToken issues a pair of tokens for a device code, an authorization code or a refresh token.
func (s *identityServer) giveToken(c authCall) reply {
	switch {
	case c.form.Get("client_id") == "":
		return authRefusal(http.StatusBadRequest, "missing client id")
	case c.form.Get("client_id") != s.opts.ClientID:
		return authRefusal(http.StatusBadRequest, "invalid client")
	}
	switch c.form.Get("grant_type") {
	case "urn:ietf:params:oauth:grant-type:device_code":
		return s.giveForDevice(c)
	case "authorization_code":
		return s.giveForCode(c)
	case "refresh_token":
		return s.giveForRefresh(c)
	}
	return authRefusal(http.StatusBadRequest, "Invalid grant type")
}

// AuthURL returns the base URL of the identity server.
func (s *identityServer) AuthURL() string { return "http://" + s.web.Addr().String() + "/oauth2" }
