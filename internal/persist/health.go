package persist

import (
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/persist/sqlite"
)

// State is the store's ability to write.
type State string

// The states of a store.
const (
	OK State = "ok"
	// Failing means that chat continues in memory and changes are pending, or that the file is
	// written, but couldn't be opened again.
	Failing State = "failing"
)

// Health describes the state of the store.
type Health struct {
	State State
	Since time.Time // when this state began
	// Problem is set while Failing: one line that names the problem and how to fix it.
	Problem   string
	LastFlush time.Time // last write; zero if there was none
	// Lag is the maximum age of changes that aren't stored yet. They would be lost if the process
	// ended now. It is 0 before Run.
	Lag     time.Duration
	Waiting int // pending records of timeline and journal
	// Dropped is how many records of timeline and journal were lost since Open because too many
	// were pending.
	Dropped Dropped
}

// healthRecord is the part of Health that flushes update. It is safe for concurrent use after
// start.
type healthRecord struct {
	mu     sync.Mutex
	h      Health
	safe   time.Time // all events before this time are stored; zero before Run
	failed bool      // the last flush failed
}

func (r *healthRecord) read(now time.Time) Health {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.h
	if !r.safe.IsZero() {
		h.Lag = max(0, now.Sub(r.safe))
	}
	return h
}

// recordStart records that events from now on are not stored yet. Only the first Run counts.
func (r *healthRecord) recordStart(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.safe.IsZero() {
		r.safe = now
	}
}

// recordFlush records the result of a flush that began at the given time.
func (r *healthRecord) recordFlush(began time.Time, well bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = !well
	if well {
		r.safe = began
	}
}

// isFailing reports whether the last flush failed.
func (r *healthRecord) isFailing() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

func (r *healthRecord) recordWrite(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.h.LastFlush = now
}

// setState sets the state after err, and reports whether the state changed.
func (r *healthRecord) setState(err error, now time.Time) (changed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	state, problem := OK, ""
	if err != nil {
		state, problem = Failing, sqlite.Problem(err)
	}
	if changed = state != r.h.State; changed {
		r.h.Since = now
	}
	r.h.State, r.h.Problem = state, problem
	return changed
}
