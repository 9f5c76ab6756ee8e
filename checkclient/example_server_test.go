package checkclient_test

import (
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/chatguardtest"
	"github.com/chatguard/chatguard/internal/web/check"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// patience is a timeout that a busy machine keeps. The default suits a program.
const patience = time.Minute

const token = "token-of-a-chat-server"

// server is chatguard's real handler of the checks, on a loopback port.
type server struct {
	*httptest.Server
	guard *chatguard.Guard
	clock *chatguardtest.Clock

	mu          sync.Mutex
	requests    []string // paths
	connections int
}

// start runs a server with the limits, whose clock is stopped. The caller must close it.
func start(limits ...chatguard.Limit) (*server, error) {
	s := &server{clock: chatguardtest.NewClock(time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC))}
	var err error
	if s.guard, err = chatguard.New(chatguard.Policy{Limits: limits, Exempt: []chatguard.Role{chatguard.RoleModerator}}, &chatguard.Options{Now: s.clock.Now}); err != nil {
		return nil, err
	}
	checker := check.New(check.Options{Guard: s.guard, Space: "check:"})
	mux := http.NewServeMux()
	for path, handle := range map[string]func(http.ResponseWriter, *http.Request, string) error{
		"/api/v1/check": checker.Check, "/api/v1/check/batch": checker.CheckBatch, "/api/v1/check/refund": checker.Refund,
	} {
		mux.HandleFunc("POST "+path, problem.HandlerFunc(slog.New(slog.DiscardHandler), func(w http.ResponseWriter, r *http.Request) error {
			s.count(path)
			if r.Header.Get("Authorization") != "Bearer "+token {
				return problem.New(http.StatusUnauthorized, "This token is unknown.")
			}
			return handle(w, r, "a chat server")
		}))
	}
	s.Server = httptest.NewUnstartedServer(mux)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.connections++
		}
	}
	s.Start()
	return s, nil
}

func (s *server) count(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, strings.TrimPrefix(path, "/api/v1"))
}

// asked returns the paths of all requests.
func (s *server) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}
