package persist

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
)

// patience is how long the last flush waits if another program keeps the database locked.
const patience = 10 * time.Second

// retryPause is how long the last flush waits before it tries again.
const retryPause = 10 * time.Millisecond

var errNotRestored = errors.New("the stored state must be restored before anything is written over it")

// Run writes in the background until the context ends. The first flush starts at once. Each later
// flush starts FlushInterval after the previous one started, or when the previous one ends if it
// takes longer. A flush starts sooner if a caller waits for a change to be stored, or if the queue
// is half full. Database errors don't end Run: it discards nothing, retries at each interval,
// reports the problem in Health, and marks the Guard's verdicts as Degraded.
//
// When the context ends, Run writes everything once more and returns; it waits up to 10 s for a
// lock. The error says what is lost. End the context only after the last call of Check, Observe or
// Report. Call Run after Restore. A Run may follow another, but must not overlap it.
func (s *Store) Run(ctx context.Context, guard *chatguard.Guard) error {
	s.commits.begin()
	defer s.commits.end()
	if !s.restored.Load() {
		return errNotRestored
	}
	s.health.recordStart(s.opts.Now())
	ticker := time.NewTicker(s.opts.FlushInterval)
	defer ticker.Stop()
	looks := time.NewTicker(min(s.opts.FlushInterval, lookEvery))
	defer looks.Stop()
	for {
		// A flush in progress is finished, even if the context ends.
		s.runTurn(context.WithoutCancel(ctx), guard)
		if s.lost != nil {
			close(s.isLost)
			return s.loss(s.lost)
		}
		if !s.await(ctx, ticker.C, looks.C) {
			return s.finish(context.WithoutCancel(ctx), guard)
		}
	}
}

// Lost returns a channel that is closed if another process has taken the database, so that this one
// must not act any more. Run then ends with an *OwnedError.
func (s *Store) Lost() <-chan struct{} { return s.isLost }

// lookEvery is how often Run looks at the database's files between two turns.
const lookEvery = 2 * time.Second

// await waits for the next turn. It returns false if the context ends first.
func (s *Store) await(ctx context.Context, turns, looks <-chan time.Time) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-turns:
			return true
		case <-s.commits.wake:
			return true
		case <-looks:
			if s.db.IsTouched() {
				return true
			}
		}
	}
}

// runTurn runs a flush, and then rolls up the timeline and deletes expired records.
func (s *Store) runTurn(ctx context.Context, guard *chatguard.Guard) {
	written, err := s.flushAndReport(ctx, guard)
	if err == nil {
		if err = s.sweeper.sweep(ctx, guard, written); err == nil {
			err = s.sweeper.limitMemory(ctx)
		}
		s.db.NoteFailure(err)
		s.recordTurn(cmp.Or(err, s.db.CheckNames()))
	}
	guard.State().SetDegraded(err != nil)
}

// Stuck returns a text if a flush has spent more time than limit outside the database; otherwise
// "". Time in the database doesn't count: the database may be slow, locked or on a disk that
// doesn't answer, and then a new process couldn't open it either.
func (s *Store) Stuck(now time.Time, limit time.Duration) string { return s.flushing.Stuck(now, limit) }

// inDatabase calls do during a flush. The time that do takes doesn't count for Stuck.
func (s *Store) inDatabase(do func() error) error {
	s.flushing.End(0) // there is only one flush at a time
	defer func() { s.flushing.Begin(time.Now()) }()
	return do()
}

// finish writes everything, and waits if another program keeps the database locked.
func (s *Store) finish(ctx context.Context, guard *chatguard.Guard) error {
	began := time.Now()
	_, err := s.flushAndReport(ctx, guard)
	for sqlite.IsTemporary(err) && time.Since(began) < patience {
		time.Sleep(retryPause)
		_, err = s.flushAndReport(ctx, guard)
	}
	switch {
	case err == nil:
		s.recordTurn(nil)
		return s.db.CheckAtEnd(ctx, s.lastLook)
	case sqlite.IsMisplaced(err):
		return s.db.Rescue(ctx, err, func() error {
			_, err := s.flushAndReport(ctx, guard)
			return err
		})
	}
	return s.loss(err)
}

// loss returns an error that says how much is lost because of another error.
func (s *Store) loss(err error) error {
	lag := s.Health().Lag.Round(time.Second)
	return fmt.Errorf("everything from the last %v is lost, including people's changes: %w", max(lag, time.Second), err)
}

// flushAndReport runs a flush and sends its result to the waiting callers. Before that, it records
// a failure, so that these callers find the reason in Health.
func (s *Store) flushAndReport(ctx context.Context, guard *chatguard.Guard) (written int, err error) {
	began, waiting := s.opts.Now(), s.commits.take()
	written, err = s.flush(ctx, guard)
	s.health.recordFlush(began, err == nil)
	if err != nil {
		s.recordTurn(err)
	}
	for _, told := range waiting {
		told <- err
	}
	return written, err
}

// flush writes all changes in one transaction, or leaves them for the next flush. It returns how
// many rows it wrote.
func (s *Store) flush(ctx context.Context, guard *chatguard.Guard) (written int, err error) {
	defer s.flushing.End(s.flushing.Begin(time.Now()))
	if err := s.inDatabase(func() error { return s.recoverFile(ctx, guard) }); err != nil {
		return 0, err
	}
	parts := s.collect(guard)
	err = s.inDatabase(func() error { return s.write(ctx, parts) })
	for _, p := range slices.Backward(parts) {
		p.done(ctx, err == nil)
	}
	if err != nil {
		s.db.NoteFailure(err)
		return 0, err
	}
	for _, p := range parts {
		written += p.rows
	}
	return written, nil
}

// write writes all parts. It opens no transaction if there is nothing to write.
func (s *Store) write(ctx context.Context, parts []part) error {
	if !slices.ContainsFunc(parts, func(p part) bool { return p.rows > 0 }) {
		return nil
	}
	began := time.Now()
	if err := s.db.Write(ctx, func(tx *sql.Tx) error { return writeParts(ctx, tx, parts) }); err != nil {
		return err
	}
	s.figures.recordFlush(parts, time.Since(began))
	s.health.recordWrite(s.opts.Now())
	return nil
}

// recordTurn records whether a turn succeeded. It logs a change of the state.
func (s *Store) recordTurn(err error) {
	isWritten := err == nil || errors.As(err, new(sqlite.TwoNamesError))
	if !isWritten {
		s.figures.errors.Inc()
	}
	switch changed := s.health.setState(err, s.opts.Now()); {
	case changed && err != nil && isWritten:
		s.opts.Logger.Error("database is written, but can't be opened again", slog.String("problem", err.Error()))
	case changed && err != nil:
		s.opts.Logger.Error("database can't be written; chat continues in memory", slog.String("problem", err.Error()), slog.Any("cause", errors.Unwrap(err)))
	case changed:
		s.opts.Logger.Info("database is written again")
	}
}
