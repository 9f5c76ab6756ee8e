package transfer

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"pgregory.net/rapid"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/persist/persisttest"
)

func TestMain(m *testing.M) {
	persisttest.Main(m, childRoles)
}

var childRoles = map[string]func(ctx context.Context, path string) error{
	"import": importUntilKilled,
	"pairs":  writePairsUntilKilled,
}

var (
	ctx   = context.Background()
	start = persisttest.Start
	at    = persisttest.At
	ada   = auth.Identity{Name: "Ada", Access: auth.Own, From: auth.FromLink}

	wantError    = persisttest.WantError
	databasePath = persisttest.DatabasePath
)

// must fails a test, or a case of a random test, if err is not nil.
func must(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open opens a store. The end of the test closes it, if it is still open.
func open(t testing.TB, path string) *persist.Store {
	t.Helper()
	s, err := persist.Open(ctx, path, &persist.Options{Now: at(start), Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// restoreGuard returns a Guard whose verdicts the store observes, with the stored state.
func restoreGuard(t testing.TB, s *persist.Store) (*chatguard.Guard, persist.RestoreStats) {
	t.Helper()
	g, err := chatguard.New(persisttest.Policy(), &chatguard.Options{Now: at(start), Observer: s.Observe})
	must(t, err)
	stats, err := s.Restore(ctx, g)
	must(t, err)
	return g, stats
}

// flushAndClose writes what is pending and closes the store.
func flushAndClose(t testing.TB, s *persist.Store, g *chatguard.Guard) {
	t.Helper()
	ended, stop := context.WithCancel(ctx)
	stop()
	must(t, s.Run(ended, g))
	must(t, s.Close())
}

// newFilledDatabase creates a database with the state of 500 throttled users.
func newFilledDatabase(t testing.TB) string {
	t.Helper()
	path := databasePath(t)
	s := open(t, path)
	g, _ := restoreGuard(t, s)
	for user := range 500 {
		for range 4 {
			_, err := g.Check(ctx, persisttest.Message(fmt.Sprint(user), start))
			must(t, err)
		}
	}
	flushAndClose(t, s, g)
	return path
}
