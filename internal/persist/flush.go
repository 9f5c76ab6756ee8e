package persist

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
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

// Stuck returns a text if a flush has taken longer than limit without using the database, or "".
// The database doesn't count: it may be slow, locked or on a disk that doesn't answer, and then a
// new process couldn't open it either.
func (s *Store) Stuck(now time.Time, limit time.Duration) string { return s.flushing.Stuck(now, limit) }

// inDatabase calls do during a flush. Its time doesn't count for Stuck.
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
	// Take people's changes first, then the state that depends on them.
	p := pending{changes: s.changes.peek(), notes: s.notes.peek(), webhooks: s.webhooks.peek(), records: s.queue.take(), interrupted: s.interrupted}
	batch := guard.State().Dirty()
	p.state = slices.AppendSeq(make([]chatguard.StateRow, 0, batch.Len()), batch.Rows())
	if err := s.inDatabase(func() error { return s.write(ctx, &p) }); err != nil {
		batch.Release()
		s.queue.putBack(p.records)
		s.db.NoteFailure(err)
		return 0, err
	}
	batch.Confirm()
	s.queue.confirm()
	s.changes.removeStored(p.changes)
	s.notes.removeStored(p.notes)
	s.webhooks.removeStored(p.webhooks)
	s.interrupted = 0
	s.finishForgetting(ctx, p.changes.forgettings)
	return p.len(), nil
}

// pending is everything that a flush writes.
type pending struct {
	state       []chatguard.StateRow
	records     records
	changes     waiting
	notes       []noteRow
	webhooks    webhookRows
	interrupted chatguard.EntryID
}

func (p *pending) len() int {
	return len(p.state) + p.records.len() + len(p.changes.revisions) + len(p.changes.audits)
}

func (p *pending) isEmpty() bool {
	return p.len() == 0 && p.changes.isEmpty() && len(p.notes) == 0 && p.webhooks.isEmpty() && p.interrupted == 0
}

// write writes everything in p. It opens no transaction if there is nothing to write.
func (s *Store) write(ctx context.Context, p *pending) error {
	if p.isEmpty() {
		return nil
	}
	began := time.Now()
	err := s.db.Write(ctx, func(tx *sql.Tx) error {
		if err := writeState(ctx, tx, p.state); err != nil {
			return err
		}
		if err := writeRecords(ctx, tx, p.records); err != nil {
			return err
		}
		if err := writeChanges(ctx, tx, p.changes); err != nil {
			return err
		}
		if err := writeNotes(ctx, tx, p.notes); err != nil {
			return err
		}
		if err := writeWebhooks(ctx, tx, p.webhooks); err != nil {
			return err
		}
		if err := writeInterrupted(ctx, tx, p.interrupted, s.opts.Now()); err != nil {
			return err
		}
		return writeForgettings(ctx, tx, p.changes.forgettings) // last, so that nothing comes after
	})
	if err != nil {
		return err
	}
	s.figures.recordFlush(p, time.Since(began))
	s.health.recordWrite(s.opts.Now())
	return nil
}
