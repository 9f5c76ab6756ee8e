package persist

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/persist/persisttest"
	"github.com/chatguard/chatguard/internal/waittest"
)

// stuckAfter returns what would have taken longer than half a minute, a minute from now.
func stuckAfter(s *Store) string { return s.Stuck(time.Now().Add(time.Minute), time.Minute/2) }

// TestStuck_Lock checks that a flush is noticed that waits for a lock of this process.
func TestStuck_Lock(t *testing.T) {
	t.Parallel()
	s, g := openWithGuard(t, &Options{FlushInterval: time.Hour, Now: at(start)})
	say(t, g, "anna", start)
	unlock := sync.OnceFunc(s.notebook.pending.mu.Unlock)
	s.notebook.pending.mu.Lock()
	defer unlock()
	startRun(t, s, g)
	waittest.Until(t, func() bool { return stuckAfter(s) != "" })
	if got := stuckAfter(s); !strings.HasPrefix(got, "preparing a flush has taken ") {
		t.Errorf("it says %q", got)
	}
	unlock()
	waittest.Until(t, func() bool { return stuckAfter(s) == "" && !s.Health().LastFlush.IsZero() })
}

// TestStuck_DatabaseDoesNotCount checks that a flush isn't stuck while another program keeps the
// database locked.
func TestStuck_DatabaseDoesNotCount(t *testing.T) {
	t.Parallel()
	s, g := openWithGuard(t, &Options{FlushInterval: time.Hour, Now: at(start)})
	say(t, g, "anna", start)
	unlock := persisttest.Lock(t, s.db.Path)
	startRun(t, s, g)
	waittest.Until(t, func() bool { return s.db.Writer.Stats().InUse == 1 })
	if got := stuckAfter(s); got != "" {
		t.Errorf("it says %q", got)
	}
	unlock()
}
