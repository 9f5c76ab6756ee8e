package persist

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/waittest"
)

// runInTest runs the store without a second flush until stop is called.
func runInTest(t *testing.T, s *Store) (stop func()) {
	t.Helper()
	g := guardOf(t, s, policy())
	say(t, g, "anna", start)
	end, cancel := context.WithCancel(ctx)
	ran := make(chan error, 1)
	go func() { ran <- s.Run(end, g) }()
	return func() {
		t.Helper()
		cancel()
		must(t, <-ran)
	}
}

// stuckAfter returns what would have taken longer than half a minute, a minute from now.
func stuckAfter(s *Store) string { return s.Stuck(time.Now().Add(time.Minute), time.Minute/2) }

// TestStuck_Lock checks that a flush is noticed that waits for a lock of this process.
func TestStuck_Lock(t *testing.T) {
	t.Parallel()
	s := open(t, databasePath(t), &Options{FlushInterval: time.Hour, Now: at(start)})
	s.notes.mu.Lock()
	stop := runInTest(t, s)
	waittest.Until(t, func() bool { return stuckAfter(s) != "" })
	if got := stuckAfter(s); !strings.HasPrefix(got, "preparing a flush has taken ") {
		t.Errorf("it says %q", got)
	}
	s.notes.mu.Unlock()
	waittest.Until(t, func() bool { return stuckAfter(s) == "" && !s.Health().LastFlush.IsZero() })
	stop()
}

// TestStuck_DatabaseDoesNotCount checks that a flush isn't stuck while another program keeps the
// database locked.
func TestStuck_DatabaseDoesNotCount(t *testing.T) {
	t.Parallel()
	path := databasePath(t)
	s := open(t, path, &Options{FlushInterval: time.Hour, Now: at(start)})
	unlock := lock(t, path)
	stop := runInTest(t, s)
	waittest.Until(t, func() bool { return s.db.writer.Stats().InUse == 1 })
	if got := stuckAfter(s); got != "" {
		t.Errorf("it says %q", got)
	}
	unlock()
	stop()
}
