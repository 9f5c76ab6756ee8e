package faketwitch

import (
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// helixServer is Helix, the HTTP API, through which chats are moderated. The Server's mu guards it.
type helixServer struct {
	*Server        // the server that it is a part of
	points  budget // of requests
}

// call is a request to an endpoint.
type call struct {
	at     time.Time
	user   account  // owner of the token
	scopes []string // scopes of the token
	query  url.Values
	body   []byte
}

// routes returns a handler for the endpoints of this fake.
func (s *helixServer) routes() http.Handler {
	mux := http.NewServeMux()
	s.authRoutes(mux)
	s.pageRoutes(mux)
	mux.HandleFunc("GET /helix/users", s.serveHelix("", s.getUsers))
	mux.HandleFunc("DELETE /helix/moderation/chat", s.serveHelix(scopeDelete, s.requireModerator(s.deleteMessages)))
	mux.HandleFunc("POST /helix/moderation/warnings", s.serveHelix(scopeWarn, s.requireModerator(s.limitPerChannel(warningsIn, s.warnUser))))
	mux.HandleFunc("POST /helix/moderation/bans", s.serveHelix(scopeBan, s.requireModerator(s.limitPerChannel(sanctionsIn, s.banUser))))
	mux.HandleFunc("DELETE /helix/moderation/bans", s.serveHelix(scopeBan, s.requireModerator(s.limitPerChannel(sanctionsIn, s.unbanUser))))
	mux.HandleFunc("GET /helix/moderation/channels", s.serveHelix(scopeModerated, s.getModeratedChannels))
	mux.HandleFunc("GET /helix/streams", s.serveHelix("", s.getStreams))
	mux.HandleFunc("GET /helix/chat/settings", s.serveHelix("", s.getChatSettings))
	mux.HandleFunc("PATCH /helix/chat/settings", s.serveHelix(scopeSettings, s.requireModerator(s.changeChatSettings)))
	mux.HandleFunc("POST /helix/chat/messages", s.serveHelix(scopeSend, s.sendMessage))
	s.eventSubRoutes(mux)
	mux.HandleFunc("GET /irc", s.serveIRCSocket)
	return mux
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
			fault = s.faults.takeHelix(*asked)
			answer = fault.answer(func() reply { return s.execute(r, c, scope, endpoint) })
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

// receive records when a request arrived, and reads it.
func (s *helixServer) receive(r *http.Request) (*Request, call) {
	c := call{at: s.opts.Now(), query: r.URL.Query()}
	// ignore the error: a truncated body isn't valid JSON
	c.body, _ = io.ReadAll(io.LimitReader(r.Body, 1<<20))
	return &Request{At: c.at, Client: r.RemoteAddr, Method: r.Method, Path: r.URL.Path, Query: c.query, Header: r.Header, Body: string(c.body)}, c
}

// authorize checks the two headers that every Helix request needs, and the scope. It returns the
// token, or nil and the refusal.
func (s *helixServer) authorize(r *http.Request, scope string) (*accessToken, reply) {
	name, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	token, live := s.liveToken(name)
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
		return nil, refusal(http.StatusUnauthorized, "Missing scope: %s", scope)
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
