package sqlitestore

import (
	"time"

	"github.com/chatguard/chatguard/internal/persist"
)

// Health is how a Store is doing.
type Health struct {
	Failing   bool          // nothing can be written now: chat goes on in memory, and what changes waits
	Problem   string        // while Failing: one line that says what is wrong and what mends it; else empty
	Since     time.Time     // when it began to fail, or to be well
	LastFlush time.Time     // when something was last written; zero before the first time
	Lag       time.Duration // what happened in this time would be lost if the process ended at once; 0 before Run
	Waiting   int           // records of messages that wait to be written
	Dropped   uint64        // records lost since Open because more than 100,000 waited; what users have spent is never lost so
}

// Health returns how the Store is doing now. It never waits for the disk.
func (s *Store) Health() Health {
	h := s.inner.Health()
	return Health{
		Failing: h.State == persist.Failing, Problem: h.Problem, Since: h.Since, LastFlush: h.LastFlush, Lag: h.Lag,
		Waiting: h.Waiting, Dropped: h.Dropped.Timeline + h.Dropped.Journal,
	}
}
