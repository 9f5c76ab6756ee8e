package sqlitestore

import (
	"time"

	"github.com/chatguard/chatguard/internal/persist"
)

// Health describes the state of a Store.
type Health struct {
	// Failing means that nothing can be written now: chat continues in memory, and changes are
	// pending.
	Failing bool
	// Problem is set while Failing: one line that names the problem and how to fix it.
	Problem   string
	Since     time.Time // start of the current state, failing or well
	LastFlush time.Time // last write; zero if there was none
	// Lag is the period whose changes would be lost if the process ended now. It is 0 before Run.
	Lag     time.Duration
	Waiting int // pending message records
	// Dropped counts records lost since Open because more than 100,000 were pending. Usage is never
	// lost this way.
	Dropped uint64
}

// Health returns the current state of the Store. It never waits for the disk.
func (s *Store) Health() Health {
	h := s.host.Store.Health()
	return Health{
		Failing: h.State == persist.Failing, Problem: h.Problem, Since: h.Since, LastFlush: h.LastFlush, Lag: h.Lag,
		Waiting: h.Waiting, Dropped: h.Dropped.Timeline + h.Dropped.Journal,
	}
}
