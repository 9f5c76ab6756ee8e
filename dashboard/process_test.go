package dashboard_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/sqlitestore"
)

// process holds the parts of a chat server's process, from start to end.
type process struct {
	store *sqlitestore.Store
	guard *chatguard.Guard
	end   func()
}

// start opens a database and restores a new Guard from it. They run until the test ends, or
// earlier.
func start(t *testing.T, path string) *process {
	t.Helper()
	return startWith(t, path, newGuard(t), sqlitestore.Options{Logger: quiet})
}

func startWith(t *testing.T, path string, guard *chatguard.Guard, opts sqlitestore.Options) *process {
	t.Helper()
	p := &process{guard: guard}
	var err error
	if p.store, err = sqlitestore.Open(t.Context(), path, &opts); err != nil {
		t.Fatal(err)
	}
	if _, err = p.store.Restore(t.Context(), p.guard); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.store.Run(ctx) }()
	p.end = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the store's Run: %v", err)
		}
		if err := p.store.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	t.Cleanup(p.end)
	return p
}

func newPath(t *testing.T) string { return filepath.Join(t.TempDir(), "chat.db") }
