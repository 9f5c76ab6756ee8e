package dashboard_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/dashboard"
	"github.com/chatguard/chatguard/internal/redistest"
	"github.com/chatguard/chatguard/internal/waittest"
	"github.com/chatguard/chatguard/redisstore"
	"github.com/chatguard/chatguard/shared"
)

// runNode runs a node that shares limits until the test ends.
func runNode(t *testing.T, url, name string) (*redisstore.Store, *chatguard.Guard) {
	t.Helper()
	store, err := redisstore.Open(t.Context(), url, &redisstore.Options{Node: name, Version: "v9", Timeout: 2 * time.Second, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	guard, err := chatguard.New(chatguard.DefaultPolicy(), &chatguard.Options{Shared: store})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- store.Run(ctx, guard) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; ignoreAway(err) != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store, guard
}

func TestShared_Nodes(t *testing.T) {
	server := redistest.Start(t)
	store, guard := runNode(t, server.URL(), "chat-1")
	runNode(t, server.URL(), "chat-2")
	s := newSite(t, guard, dashboard.Options{SharedHealth: store.Health, Nodes: store.Nodes})
	type answer struct {
		Mode, Server string
		Up           bool
		Counts       shared.Counts
		Nodes        []shared.Node
	}
	ask := func() (a answer) {
		t.Helper()
		if err := json.Unmarshal([]byte(s.ask("GET", "/api/v1/nodes", "anna", "", 200)), &a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	var a answer
	waittest.Until(t, func() bool {
		if _, err := guard.Check(t.Context(), chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}}); err != nil {
			t.Fatal(err)
		}
		a = ask()
		return len(a.Nodes) == 2 && a.Up && a.Counts.Swaps > 0 && a.Nodes[0].Counts.Swaps > 0
	})
	if a.Mode != "exact" || !strings.HasPrefix(a.Server, "redis ") {
		t.Errorf("%+v", a)
	}
	if n := a.Nodes[0]; n.Name != "chat-1" || !n.Self || n.Version != "v9" || n.Mode != "exact" || a.Nodes[1].Name != "chat-2" || a.Nodes[1].Self {
		t.Errorf("%+v", a.Nodes)
	}
	if status := s.ask("GET", "/api/v1/status", "anna", "", 200); !strings.Contains(status, `"shared":{"mode":"exact","up":true`) {
		t.Errorf("status: %s", status)
	}
	server.Kill()
	waittest.Until(t, func() bool { return strings.Contains(s.ask("GET", "/api/v1/status", "anna", "", 200), `"up":false`) })
	waittest.Until(t, func() bool { a = ask(); return !a.Up && len(a.Nodes) == 1 && a.Nodes[0].Self })
}

// The nodes that a synchronised Guard can't list are shown as a fault; without Nodes there are
// none.
func TestShared_Synchronised(t *testing.T) {
	store, err := redisstore.Open(t.Context(), "redis://127.0.0.1:1", &redisstore.Options{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	guard, err := chatguard.New(chatguard.DefaultPolicy(), &chatguard.Options{Shared: store, SharedMode: shared.Synchronised})
	if err != nil {
		t.Fatal(err)
	}
	o := dashboard.Options{SharedHealth: func() shared.Health { return shared.Health{Up: true, Problem: "lagging"} }}
	s := newSite(t, guard, o)
	if a := s.ask("GET", "/api/v1/nodes", "anna", "", 200); !strings.Contains(a, `"mode":"synchronised","up":true`) || !strings.Contains(a, `"nodes":[]`) || !strings.Contains(a, "lagging") {
		t.Errorf("%s", a)
	}
	o.Nodes = func(context.Context) ([]shared.Node, error) { return nil, context.DeadlineExceeded }
	s = newSite(t, guard, o)
	s.ask("GET", "/api/v1/nodes", "anna", "", 503)
}
