package httpguard

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
)

// streams is a server of HTTP/2, all of whose requests come over one connection. A request for
// /slow is in progress until its client leaves or end is closed.
type streams struct {
	*testing.T
	server   *httptest.Server
	inside   chan struct{} // a request for /slow has begun
	left     chan struct{} // and has left the middleware
	end      chan struct{}
	sessions []*connguard.Session // of the requests for /session, which come one by one
}

func newStreams(t *testing.T, middleware func(http.Handler) http.Handler) *streams {
	s := &streams{T: t, inside: make(chan struct{}), left: make(chan struct{}, 2), end: make(chan struct{})}
	inner := middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/slow":
			s.inside <- struct{}{}
			select {
			case <-s.end:
			case <-r.Context().Done():
			}
		case "/session":
			s.sessions = append(s.sessions, SessionFrom(r.Context()))
		}
	}))
	s.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		inner.ServeHTTP(w, r)
		if r.URL.Path == "/slow" {
			s.left <- struct{}{}
		}
	}))
	s.server.EnableHTTP2 = true
	s.server.StartTLS()
	t.Cleanup(s.server.Close)
	return s
}

// get asks for a path as a user, and returns the answer with its body.
func (s *streams) get(ctx context.Context, path, user string) (*http.Response, string, error) {
	r, err := http.NewRequestWithContext(ctx, "GET", s.server.URL+path, nil)
	if err != nil {
		return nil, "", err
	}
	r.Header.Set("X-User", user)
	r.Header.Set("Accept", "application/problem+json")
	answer, err := s.server.Client().Do(r)
	if err != nil {
		return nil, "", err
	}
	body, err := io.ReadAll(answer.Body)
	return answer, string(body), errors.Join(err, answer.Body.Close())
}

// check asks for a path, and checks the answer's status, some of its headers and a part of its
// body.
func (s *streams) check(path, user string, status int, headers map[string]string, part string) {
	s.Helper()
	answer, body, err := s.get(s.Context(), path, user)
	if err != nil {
		s.Fatal(err)
	}
	if answer.ProtoMajor != 2 || answer.StatusCode != status || !strings.Contains(body, part) {
		s.Errorf("%s for %s: %s %d %q, want HTTP/2, %d, %q", path, user, answer.Proto, answer.StatusCode, body, status, part)
	}
	for name, want := range headers {
		if got := answer.Header.Get(name); got != want {
			s.Errorf("%s for %s: %s is %q, want %q", path, user, name, got, want)
		}
	}
}

// begin asks for /slow, and returns when the request is in progress. ended has the error.
func (s *streams) begin(ctx context.Context, user string) (ended chan error) {
	ended = make(chan error, 1)
	go func() {
		_, _, err := s.get(ctx, "/slow", user)
		ended <- err
	}()
	select {
	case <-s.inside:
	case err := <-ended:
		s.Fatalf("a slow request ended: %v", err)
	}
	return ended
}

func TestLimit_HTTP2(t *testing.T) {
	guard := newEnforcingGuard(t, func(p *chatguard.Policy) { p.Limits = p.Limits[:1] }, &chatguard.Options{Now: func() time.Time { return monday }})
	s := newStreams(t, mustLimit(t, guard, userFromHeader, &LimitOptions{MaxInFlight: 2}))
	s.check("/", "anna", 200, map[string]string{"RateLimit": `"burst";r=2;t=4`, "RateLimit-Policy": `"burst";q=3;w=12`, "Retry-After": ""}, "")

	ctx, leave := context.WithCancel(t.Context())
	gone, stays := s.begin(ctx, "anna"), s.begin(t.Context(), "anna")
	s.check("/", "anna", 429, map[string]string{"RateLimit": "", "Retry-After": "1"}, `"violated-policies":["in-flight"]`)
	s.check("/", "ben", 200, nil, "")
	leave() // resets the stream; the connection stays open
	<-s.left
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("a request whose client left: %v", err)
	}
	s.check("/", "anna", 429, map[string]string{"RateLimit": `"burst";r=0;t=4`, "Retry-After": "4", "Content-Type": "application/problem+json"}, `"violated-policies":["burst"]`)
	close(s.end)
	<-s.left
	if err := <-stays; err != nil {
		t.Error(err)
	}
}

// Each request of a connection has a session of its own.
func TestSessions_HTTP2(t *testing.T) {
	guard := newEnforcingGuard(t, nil, &chatguard.Options{Now: func() time.Time { return monday }})
	middleware, err := Sessions(mustDoor(t, guard, connguard.Options{MaxConnections: 2, Connects: chatguard.TokenBucketLimit("", 5, 2*time.Second)}), userFromHeader, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := newStreams(t, middleware)
	ctx, leave := context.WithCancel(t.Context())
	gone, stays := s.begin(ctx, "anna"), s.begin(t.Context(), "anna")
	s.check("/session", "anna", 429, map[string]string{"Content-Type": "application/problem+json"}, `"violated-policies":["connections"]`)
	leave()
	<-s.left
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("a request whose client left: %v", err)
	}
	s.check("/session", "anna", 200, nil, "")
	s.check("/session", "anna", 200, nil, "")
	if len(s.sessions) != 2 || s.sessions[0] == nil || s.sessions[0] == s.sessions[1] {
		t.Errorf("sessions: %v", s.sessions)
	}
	s.check("/session", "anna", 429, map[string]string{"Retry-After": "2"}, "Too many connection attempts")
	close(s.end)
	<-s.left
	if err := <-stays; err != nil {
		t.Error(err)
	}
}
