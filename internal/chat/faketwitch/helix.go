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

// call is one request to an endpoint.
type call struct {
	at     time.Time
	user   account  // whose token it came with
	scopes []string // what that token allows
	query  url.Values
	body   []byte
}

// routes are the endpoints that this Twitch has.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	s.authRoutes(mux)
	mux.HandleFunc("GET /helix/users", s.serveHelix("", s.getUsers))
	mux.HandleFunc("DELETE /helix/moderation/chat", s.serveHelix(scopeDelete, s.moderated(s.deleteMessages)))
	mux.HandleFunc("POST /helix/moderation/warnings", s.serveHelix(scopeWarn, s.moderated(s.warnUser)))
	mux.HandleFunc("POST /helix/moderation/bans", s.serveHelix(scopeBan, s.moderated(s.banUser)))
	mux.HandleFunc("DELETE /helix/moderation/bans", s.serveHelix(scopeBan, s.moderated(s.unbanUser)))
	mux.HandleFunc("GET /helix/moderation/channels", s.serveHelix(scopeModerated, s.getModeratedChannels))
	mux.HandleFunc("GET /helix/chat/settings", s.serveHelix("", s.getChatSettings))
	mux.HandleFunc("PATCH /helix/chat/settings", s.serveHelix(scopeSettings, s.moderated(s.changeChatSettings)))
	mux.HandleFunc("POST /helix/chat/messages", s.serveHelix(scopeSend, s.sendMessage))
	s.eventSubRoutes(mux)
	mux.HandleFunc("GET /irc", s.serveIRCSocket)
	return mux
}

// serveHelix records a request, and answers it where the budget has room for it: with a fault that is due, or once it carries the right token and
// scope with what the endpoint does. The endpoint runs while mu is held.
func (s *Server) serveHelix(scope string, endpoint func(call) reply) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		asked, c := s.arrive(r)
		s.mu.Lock()
		add(&s.asked.requests, asked)
		fault := Fault{Status: AsAsked}
		answer := refuse(http.StatusTooManyRequests, "Too Many Requests")
		if s.points.take(c.at) {
			fault = s.faults.takeHelix(*asked)
			answer = fault.answer(func() reply { return s.obey(r, c, scope, endpoint) })
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

// obey does what a request asks for, where it may ask that.
func (s *Server) obey(r *http.Request, c call, scope string, endpoint func(call) reply) reply {
	token, refusal := s.authorize(r, scope)
	if token == nil {
		return refusal
	}
	c.user, c.scopes = *token.owner, token.scopes
	return endpoint(c)
}

// arrive notes when a request arrived, and reads it.
func (s *Server) arrive(r *http.Request) (*Request, call) {
	c := call{at: s.opts.Now(), query: r.URL.Query()}
	c.body, _ = io.ReadAll(io.LimitReader(r.Body, 1<<20)) // what is cut off can't be read as JSON either, and is refused as that
	return &Request{At: c.at, Client: r.RemoteAddr, Method: r.Method, Path: r.URL.Path, Query: c.query, Header: r.Header, Body: string(c.body)}, c
}

// authorize checks the two headers that every request to Helix needs, and the scope. It returns the token, or nil and what is wrong.
func (s *Server) authorize(r *http.Request, scope string) (*accessToken, reply) {
	name, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	token, live := s.liveToken(name)
	switch {
	case !ok:
		return nil, refuse(http.StatusUnauthorized, "OAuth token is missing")
	case !live:
		return nil, refuse(http.StatusUnauthorized, "Invalid OAuth token")
	case r.Header.Get("Client-Id") == "":
		return nil, refuse(http.StatusUnauthorized, "Client ID is missing")
	case r.Header.Get("Client-Id") != s.opts.ClientID:
		return nil, refuse(http.StatusUnauthorized, "Client ID and OAuth token do not match")
	case !token.allows(scope):
		return nil, refuse(http.StatusUnauthorized, "Missing scope: %s", scope)
	}
	return token, reply{}
}

// getUsers tells about accounts by login or ID, or about the token's user.
func (s *Server) getUsers(c call) reply {
	logins, ids := c.query["login"], c.query["id"]
	if len(logins)+len(ids) == 0 {
		ids = []string{c.user.id}
	}
	if len(logins)+len(ids) > 100 {
		return refuse(http.StatusBadRequest, "The total number of id and login parameters must not exceed 100.")
	}
	data := []map[string]string{}
	for _, a := range s.accounts {
		if slices.Contains(logins, a.login) || slices.Contains(ids, a.id) {
			data = append(data, map[string]string{"id": a.id, "login": a.login, "display_name": a.displayName})
		}
	}
	return tell(data)
}
