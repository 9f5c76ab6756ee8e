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
	State     State     `json:"state"`
	Since     time.Time `json:"since"`      // when it came into this state
	Problem   string    `json:"problem"`    // while Failing: one line that says what is wrong and what mends it
	LastFlush time.Time `json:"last_flush"` // when something was last written; zero before the first time
	Rows      uint64    `json:"rows"`       // rows of users' state written since Open
	Entries   uint64    `json:"entries"`    // journal entries written since Open
	Queued    int       `json:"queued"`     // journal entries and outcomes that wait
	Dropped   uint64    `json:"dropped"`    // of those, how many were lost since Open because the queue was full
}

// Health returns how the store is doing now. It never waits for the disk.
func (s *Store) Health() Health {
	h := s.health.read()
	h.Queued, h.Dropped = s.queue.state()
	return h
}

// note keeps how a turn of Run went, and logs it where that differs from the turn before.
func (s *Store) note(err error) {
	switch changed := s.health.note(err, s.opts.Now()); {
	case changed && err != nil:
		s.opts.Logger.Error("database can't be written; chat goes on in memory", slog.String("problem", err.Error()), slog.Any("cause", errors.Unwrap(err)))
	case changed:
		s.opts.Logger.Info("database is written again")
	}
}

// healthRecord is the part of Health that flushes change. It is safe for concurrent use after start.
type healthRecord struct {
	mu sync.Mutex
	h  Health
}

func (r *healthRecord) start(now time.Time) { r.h = Health{State: OK, Since: now} }

func (r *healthRecord) read() Health {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.h
}

func (r *healthRecord) wrote(rows, entries int, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.h.LastFlush = now
	r.h.Rows += uint64(rows)
	r.h.Entries += uint64(entries)
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
