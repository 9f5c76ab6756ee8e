package dashboard_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/dashboard"
)

// stopBrowser ends the browser that tests have started. Only the browser build has one.
var stopBrowser = func() {}

func TestMain(m *testing.M) {
	code := m.Run()
	stopBrowser()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

const (
	mount = "/some/deep/path"
	room  = "lobby/1 & co" // a name that a chat server may use
	api   = "/api/v1/channels/lobby%2F1%20%26%20co"
)

// quiet logs nothing.
var quiet = slog.New(slog.DiscardHandler)

// site is a chat server with its own sessions and a mounted dashboard.
type site struct {
	*testing.T
	guard *chatguard.Guard
	board *dashboard.Dashboard
	http  *httptest.Server
	stop  func() // ends the dashboard's Run and waits for it

	mu       sync.Mutex
	sessions map[string]dashboard.Role // by the name in the cookie
}

// newGuard allows everyone one message at once, one more every 10 minutes, and 300 a day.
func newGuard(t testing.TB) *chatguard.Guard {
	t.Helper()
	policy := chatguard.DefaultPolicy()
	policy.Mode, policy.Limits[0].Burst, policy.Limits[0].Refill = chatguard.ModeEnforce, 1, 10*time.Minute
	guard, err := chatguard.New(policy, nil)
	if err != nil {
		t.Fatal(err)
	}
	return guard
}

// newSite runs a site until the test ends.
func newSite(t *testing.T, guard *chatguard.Guard, opts dashboard.Options) *site {
	t.Helper()
	s := &site{T: t, guard: guard, sessions: map[string]dashboard.Role{"anna": dashboard.Moderate, "ben": dashboard.View, "": dashboard.Own, "odd": "odd"}}
	if opts.Logger == nil {
		opts.Logger = quiet
	}
	if opts.Authorize == nil {
		opts.Authorize = s.authorize
	}
	var err error
	if s.board, err = dashboard.New(guard, &opts); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle(mount+"/", http.StripPrefix(mount, s.board))
	mux.HandleFunc("/login/{name}", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "who", Value: r.PathValue("name"), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
		http.Redirect(w, r, mount+"/", http.StatusSeeOther)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/favicon.ico" { // browsers request it by themselves
			t.Errorf("the page asks for %s, outside of where it is mounted", r.URL.Path)
		}
		http.NotFound(w, r)
	})
	s.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { mux.ServeHTTP(wrapped{w}, r) }))
	s.stop = run(t, s.board)
	t.Cleanup(s.end)
	s.ask("GET", "/api/v1/status", "anna", "", 200) // it is running
	return s
}

// wrapped is a ResponseWriter as middleware wraps it, for example for logging.
type wrapped struct{ inner http.ResponseWriter }

func (w wrapped) Header() http.Header              { return w.inner.Header() }
func (w wrapped) Write(data []byte) (int, error)   { return w.inner.Write(data) }
func (w wrapped) WriteHeader(status int)           { w.inner.WriteHeader(status) }
func (w wrapped) Unwrap() (of http.ResponseWriter) { return w.inner }

func (s *site) end() {
	s.stop()
	s.http.Client().CloseIdleConnections()
	s.http.Close()
}

func (s *site) authorize(r *http.Request) (name string, role dashboard.Role, ok bool) {
	cookie, err := r.Cookie("who")
	if err != nil {
		return "", "", false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	role, ok = s.sessions[cookie.Value]
	return cookie.Value, role, ok
}

// revoke ends a person's session.
func (s *site) revoke(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, name)
}

// say sends n messages of a user in the room.
func (s *site) say(user string, n int) { say(s, s.guard, user, n) }

func say(t testing.TB, guard *chatguard.Guard, user string, n int) (last chatguard.Verdict) {
	t.Helper()
	for range n {
		var err error
		last, err = guard.Check(t.Context(), chatguard.Message{ChannelID: room, User: chatguard.User{ID: user}, Text: "hello"})
		if err != nil {
			t.Fatal(err)
		}
	}
	return last
}

// ask sends a request as a person, expects a status, and returns the body. It repeats the request
// until the dashboard runs.
func (s *site) ask(method, path, as, body string, status int, adjust ...func(*http.Request)) string {
	s.Helper()
	for {
		r, err := http.NewRequestWithContext(s.Context(), method, s.http.URL+mount+path, strings.NewReader(body))
		if err != nil {
			s.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("If-Match", "*")
		if as != "nobody" {
			r.AddCookie(&http.Cookie{Name: "who", Value: as})
		}
		for _, f := range adjust {
			f(r)
		}
		answer, err := s.http.Client().Do(r)
		if err != nil {
			s.Fatal(err)
		}
		said, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			s.Fatal(err)
		}
		if answer.StatusCode == status {
			return string(said)
		}
		if answer.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(said), "isn't running") {
			s.Fatalf("%s %s as %s: %s %s, want %d", method, path, as, answer.Status, said, status)
		}
	}
}

// get requests a path with ask and decodes the answer.
func get[T any](s *site, path, as string) (value T) {
	s.Helper()
	if err := json.Unmarshal([]byte(s.ask("GET", path, as, "", 200)), &value); err != nil {
		s.Fatal(err)
	}
	return value
}

// setBurst changes the limit as a person.
func (s *site) setBurst(as string, burst int) {
	s.Helper()
	policy := get[chatguard.Policy](s, api+"/policy", as)
	policy.Limits[0].Burst = burst
	body, err := json.Marshal(policy)
	if err != nil {
		s.Fatal(err)
	}
	s.ask("PUT", api+"/policy", as, string(body), 200)
}

// throttledUsers returns the IDs of the throttled users, as a person sees them.
func (s *site) throttledUsers(as string) (ids []string) {
	s.Helper()
	type user struct {
		ID      string `json:"user_id"`
		Outcome struct {
			Action, Result string
		} `json:"outcome"`
	}
	for _, u := range get[map[string][]user](s, "/api/v1/throttled", as)["users"] {
		ids = append(ids, strings.TrimSpace(fmt.Sprint(u.ID, " ", u.Outcome.Action, " ", u.Outcome.Result)))
	}
	return ids
}
