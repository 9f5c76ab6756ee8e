package dashboard_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/dashboard"
	"github.com/chatguard/chatguard/sqlitestore"
)

// process holds the parts of a chat server's process, from start to end. A site runs the store.
type process struct {
	store *sqlitestore.Store
	guard *chatguard.Guard
	end   func() // call it after the site's end
}

// start opens a database and restores a new Guard from it. The database is open until the test
// ends, or until end is called.
func start(t *testing.T, path string) *process {
	t.Helper()
	return startWith(t, path, newGuard(t), sqlitestore.Options{Logger: quiet})
}

func startWith(t *testing.T, path string, guard *chatguard.Guard, opts sqlitestore.Options) *process {
	t.Helper()
	store, err := sqlitestore.Open(t.Context(), path, guard, &opts)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{store: store, guard: guard}
	p.end = sync.OnceFunc(func() {
		if err := store.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	t.Cleanup(p.end)
	return p
}

// run calls Run in the background. The returned function ends it and waits for it.
func run(t *testing.T, of dashboard.Store) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- of.Run(ctx) }()
	return sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

func newPath(t *testing.T) string { return filepath.Join(t.TempDir(), "chat.db") }
