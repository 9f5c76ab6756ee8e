package faketwitch

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// helixServer is Helix, the HTTP API through which chats are moderated. The Server's mu guards it.
type helixServer struct {
	*state
	delivery *delivery
	identity *identityServer
	faults   faults
	// ignored is the time until which an account's messages are ignored, by user ID.
	ignored map[string]time.Time
	points  budget // of requests
}

// serveHelix returns a handler that records a request and answers it. If the budget is empty, the
// answer is a refusal. Otherwise it is a pending fault, or the endpoint's result if the token and
// scope are valid. The endpoint runs while mu is held.
func (s *helixServer) serveHelix(scope string, endpoint func(call) reply) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		asked, c := s.receive(r)
		s.mu.Lock()
		add(&s.asked.requests, asked)
		fault := Fault{Status: AsAsked}
		answer := refusal(http.StatusTooManyRequests, "Too Many Requests")
		if s.points.take(c.at) {
			fault = s.faults.take(*asked)
			answer = fault.answer(refusal, func() reply { return s.execute(r, c, scope, endpoint) })
		}
		asked.Status = answer.status
		s.points.describe(w.Header(), c.at)
		s.mu.Unlock()

		if answer.then != nil {
			answer.then()
		}
		maps.Copy(w.Header(), fault.Header)
		fault.stall(r.Context())
		answer.deliver(w, fault.Cut)
	}
}

// execute carries out a request if it is allowed.
func (s *helixServer) execute(r *http.Request, c call, scope string, endpoint func(call) reply) reply {
	token, refusal := s.authorize(r, scope)
	if token == nil {
		return refusal
	}
	c.user, c.scopes = *token.owner, token.scopes
	return endpoint(c)
}

// authorize checks the two headers that every Helix request needs, and the scope. It returns the
// token, or nil and the refusal.
func (s *helixServer) authorize(r *http.Request, scope string) (*token, reply) {
	name, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	token, live := s.identity.liveToken(name)
	switch {
	case !ok:
		return nil, refusal(http.StatusUnauthorized, "OAuth token is missing")
	case !live:
		return nil, refusal(http.StatusUnauthorized, "Invalid OAuth token")
	case r.Header.Get("Client-Id") == "":
		return nil, refusal(http.StatusUnauthorized, "Client ID is missing")
	case r.Header.Get("Client-Id") != s.opts.ClientID:
		return nil, refusal(http.StatusUnauthorized, "Client ID and OAuth token do not match")
	case !token.allows(scope):
		return nil, refusal(http.StatusUnauthorized, "Missing scope: "+scope)
	}
	return token, reply{}
}

// getUsers returns accounts by login or ID, or the token's user.
func (s *helixServer) getUsers(c call) reply {
	logins, ids := c.query["login"], c.query["id"]
	if len(logins)+len(ids) == 0 {
		ids = []string{c.user.id}
	}
	if len(logins)+len(ids) > 100 {
		return refusal(http.StatusBadRequest, "The total number of id and login parameters must not exceed 100.")
	}
	data := []map[string]string{}
	for _, a := range s.accounts {
		if slices.Contains(logins, a.login) || slices.Contains(ids, a.id) {
			data = append(data, map[string]string{"id": a.id, "login": a.login, "display_name": a.displayName})
		}
	}
	return listReply(data)
}

// HelixURL returns the base URL of Helix.
func (s *helixServer) HelixURL() string { return "http://" + s.web.Addr().String() + "/helix" }
