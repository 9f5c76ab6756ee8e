package faketwitch

import (
	"encoding/json"
	"fmt"
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
	at    time.Time
	query url.Values
	body  []byte
}

// reply is an endpoint's answer. A nil body sends none; a refusal is made with refuse.
type reply struct {
	status int
	body   any
}

func refuse(status int, format string, args ...any) reply {
	return reply{status, map[string]any{"error": http.StatusText(status), "status": status, "message": fmt.Sprintf(format, args...)}}
}

// routes are the endpoints that this Twitch has.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /oauth2/validate", s.serveAuth)
	mux.HandleFunc("GET /helix/users", s.serveHelix("", s.getUsers))
	mux.HandleFunc("DELETE /helix/moderation/chat", s.serveHelix(scopeDelete, s.moderated(s.deleteMessages)))
	mux.HandleFunc("POST /helix/moderation/warnings", s.serveHelix(scopeWarn, s.moderated(s.warnUser)))
	mux.HandleFunc("POST /helix/moderation/bans", s.serveHelix(scopeBan, s.moderated(s.banUser)))
	mux.HandleFunc("DELETE /helix/moderation/bans", s.serveHelix(scopeBan, s.moderated(s.unbanUser)))
	return mux
}

// serveHelix records a request, and answers it with a fault that is due, or once it carries the right token and scope with what the endpoint does.
// The endpoint runs while mu is held.
func (s *Server) serveHelix(scope string, endpoint func(call) reply) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		asked, c := s.arrive(r)
		s.mu.Lock()
		add(&s.asked.requests, asked)
		fault, faulty := s.faults.takeHelix()
		var answer reply
		if !faulty || fault.After {
			if answer = s.authorize(r, scope); answer.status == 0 {
				answer = endpoint(c)
			}
		}
		if faulty {
			answer = refuse(fault.Status, "%s", fault.Message)
		}
		asked.Status = answer.status
		s.mu.Unlock()

		maps.Copy(w.Header(), fault.Header)
		answer.write(w)
	}
}

// arrive notes when a request arrived, and reads it.
func (s *Server) arrive(r *http.Request) (*Request, call) {
	c := call{at: s.opts.Now(), query: r.URL.Query()}
	c.body, _ = io.ReadAll(io.LimitReader(r.Body, 1<<20)) // what is cut off can't be read as JSON either, and is refused as that
	return &Request{At: c.at, Client: r.RemoteAddr, Method: r.Method, Path: r.URL.Path, Query: c.query, Header: r.Header, Body: string(c.body)}, c
}

// write sends the answer. Status 0 cuts the connection.
func (a reply) write(w http.ResponseWriter) {
	if a.status == 0 {
		panic(http.ErrAbortHandler)
	}
	if a.body == nil {
		w.WriteHeader(a.status)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(a.status)
	_ = json.NewEncoder(w).Encode(a.body) // the client is gone then, and learns nothing either way
}

// authorize checks the two headers that every request to Helix needs, and the scope. It returns the zero reply when all is well.
func (s *Server) authorize(r *http.Request, scope string) reply {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case !ok:
		return refuse(http.StatusUnauthorized, "OAuth token is missing")
	case token != s.opts.Token:
		return refuse(http.StatusUnauthorized, "Invalid OAuth token")
	case r.Header.Get("Client-Id") == "":
		return refuse(http.StatusUnauthorized, "Client ID is missing")
	case r.Header.Get("Client-Id") != s.opts.ClientID:
		return refuse(http.StatusUnauthorized, "Client ID and OAuth token do not match")
	case scope != "" && !slices.Contains(s.opts.Scopes, scope):
		return refuse(http.StatusUnauthorized, "Missing scope: %s", scope)
	}
	return reply{}
}

// serveAuth is the identity server's only endpoint: whose is this token?
func (s *Server) serveAuth(w http.ResponseWriter, r *http.Request) {
	asked, _ := s.arrive(r)
	answer := reply{http.StatusOK, map[string]any{
		"client_id": s.opts.ClientID, "login": s.opts.Login, "scopes": s.opts.Scopes, "user_id": s.botID, "expires_in": 4 * 60 * 60,
	}}
	if _, token, _ := strings.Cut(r.Header.Get("Authorization"), " "); token != s.opts.Token {
		answer = reply{http.StatusUnauthorized, map[string]any{"status": http.StatusUnauthorized, "message": "invalid access token"}}
	}
	s.mu.Lock()
	asked.Status = answer.status
	add(&s.asked.requests, asked)
	s.mu.Unlock()
	answer.write(w)
}

// getUsers tells about accounts by login or ID, or about the token's user.
func (s *Server) getUsers(c call) reply {
	logins, ids := c.query["login"], c.query["id"]
	if len(logins)+len(ids) == 0 {
		ids = []string{s.botID}
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
	return reply{http.StatusOK, map[string]any{"data": data}}
}
