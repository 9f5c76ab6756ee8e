package transfer

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

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
)

// open opens a store. The end of the test closes it, if it is still open.
func open(t testing.TB, path string) *persist.Store {
	t.Helper()
	s, err := persist.Open(ctx, path, &persist.Options{Now: at(start), Logger: slog.New(slog.DiscardHandler)})
	persisttest.Must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// restoreGuard returns a Guard whose verdicts the store observes, with the stored state.
func restoreGuard(t testing.TB, s *persist.Store) (*chatguard.Guard, persist.RestoreStats) {
	t.Helper()
	g, err := chatguard.New(persisttest.Policy(), &chatguard.Options{Now: at(start), Observer: s.Observe})
	persisttest.Must(t, err)
	stats, err := s.Restore(ctx, g)
	persisttest.Must(t, err)
	return g, stats
}

// flushAndClose writes what is pending and closes the store.
func flushAndClose(t testing.TB, s *persist.Store, g *chatguard.Guard) {
	t.Helper()
	ended, stop := context.WithCancel(ctx)
	stop()
	persisttest.Must(t, s.Run(ended, g))
	persisttest.Must(t, s.Close())
}

// newFilledDatabase creates a database with the state of 500 throttled users.
func newFilledDatabase(t testing.TB) string {
	t.Helper()
	path := persisttest.DatabasePath(t)
	s := open(t, path)
	g, _ := restoreGuard(t, s)
	for user := range 500 {
		for range 4 {
			_, err := g.Check(ctx, persisttest.Message(fmt.Sprint(user), start))
			persisttest.Must(t, err)
		}
	}
	flushAndClose(t, s, g)
	return path
}
