package persist

import (
	"errors"
	"log/slog"
	"sync"
	"time"
)

// State says whether the store can write.
type State string

// The states.
const (
	OK      State = "ok"
	Failing State = "failing" // chat goes on in memory; what changes waits to be written
)

// Health is how the store is doing.
type Health struct {
	State     State
	Since     time.Time     // when it came into this state
	Problem   string        // while Failing: one line that says what is wrong and what mends it
	LastFlush time.Time     // when something was last written; zero before the first time
	Lag       time.Duration // what happened for so long would be lost, if the process ended at once; 0 before Run
	Waiting   int           // records of timeline and journal that wait
	Dropped   Dropped       // of those, how many were lost since Open because too many waited
}

// Health returns how the store is doing now. It never waits for the disk.
func (s *Store) Health() Health {
	h := s.health.read(s.opts.Now())
	h.Waiting, h.Dropped = s.queue.state()
	return h
}

// note keeps whether a turn went well, and logs it where that differs from the one before.
func (s *Store) note(err error) {
	if err != nil {
		s.figures.errors.Inc()
	}
	switch changed := s.health.note(err, s.opts.Now()); {
	case changed && err != nil:
		s.opts.Logger.Error("database can't be written; chat goes on in memory", slog.String("problem", err.Error()), slog.Any("cause", errors.Unwrap(err)))
	case changed:
		s.opts.Logger.Info("database is written again")
	}
}

// healthRecord is the part of Health that flushes change. It is safe for concurrent use after start.
type healthRecord struct {
	mu     sync.Mutex
	h      Health
	safe   time.Time // what happened before is stored; zero before Run
	failed bool      // the last flush did
}

func (r *healthRecord) start(now time.Time) { r.h = Health{State: OK, Since: now} }

func (r *healthRecord) read(now time.Time) Health {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.h
	if !r.safe.IsZero() {
		h.Lag = max(0, now.Sub(r.safe))
	}
	return h
}

// began says that nothing is stored of what happens from now on.
func (r *healthRecord) began(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.safe = now
}

// flushed keeps how a flush went that began then.
func (r *healthRecord) flushed(began time.Time, well bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = !well
	if well {
		r.safe = began
	}
}

// failing reports whether the last flush failed.
func (r *healthRecord) failing() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

func (r *healthRecord) wrote(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.h.LastFlush = now
}

// note returns whether the state changed.
func (r *healthRecord) note(err error, now time.Time) (changed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	state, problem := OK, ""
	if err != nil {
		state, problem = Failing, problemIn(err)
	}
	if changed = state != r.h.State; changed {
		r.h.Since = now
	}
	r.h.State, r.h.Problem = state, problem
	return changed
}
