package persist

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/chatguard/chatguard"
)

// patience is how long the last flush waits for another program that keeps the database locked.
const patience = 10 * time.Second

var errNotRestored = errors.New("the stored state must be restored before anything is written over it")

// Run writes behind until the context ends: a flush starts at once, then every FlushInterval or when the last one ends, and sooner where
// somebody waits for what they have changed, or the queue is half full. Trouble with the database doesn't stop it: nothing is forgotten, each
// interval tries again, Health tells, and the Guard's verdicts say that they are degraded.
//
// When the context ends, Run writes everything once more and returns; for a lock it waits 10 s. The error says what is lost. End the context
// only when nobody calls Check, Observe or Report any more. Run must not be called twice, nor before Restore.
func (s *Store) Run(ctx context.Context, guard *chatguard.Guard) error {
	defer s.commits.end()
	if !s.restored.Load() {
		return errNotRestored
	}
	s.health.began(s.opts.Now())
	ticker := time.NewTicker(s.opts.FlushInterval)
	defer ticker.Stop()
	for {
		// A flush that has begun is finished, also when the context ends meanwhile.
		s.turn(context.WithoutCancel(ctx), guard)
		select {
		case <-ctx.Done():
			return s.finish(context.WithoutCancel(ctx), guard)
		case <-ticker.C:
		case <-s.commits.wake:
		}
	}
}

// turn is a flush, then a step of retention.
func (s *Store) turn(ctx context.Context, guard *chatguard.Guard) {
	written, err := s.flushAndTell(ctx, guard)
	if err == nil {
		if err = s.sweep(ctx, guard, written); err == nil {
			err = s.makeRoom(ctx)
		}
		s.damaged = err != nil && problemIn(err) == damaged
		s.note(err)
	}
	guard.SetDegraded(err != nil)
}

// finish writes everything, and waits for another program that keeps the database locked.
func (s *Store) finish(ctx context.Context, guard *chatguard.Guard) error {
	began := time.Now()
	_, err := s.flushAndTell(ctx, guard)
	for isLocked(err) && time.Since(began) < patience {
		_, err = s.flushAndTell(ctx, guard)
	}
	if err == nil {
		s.note(nil)
	}
	if isMisplaced(err) {
		return s.rescue(ctx, guard, err)
	}
	if err != nil {
		lag := s.Health().Lag.Round(time.Second)
		return fmt.Errorf("what happened in the last %v is lost, and what people changed meanwhile: %w", max(lag, time.Second), err)
	}
	return nil
}

// flushAndTell is a flush of which those are told who wait for it. That it has failed is noted before: whoever hears so finds the reason in Health.
func (s *Store) flushAndTell(ctx context.Context, guard *chatguard.Guard) (written int, err error) {
	began, waiting := s.opts.Now(), s.commits.take()
	written, err = s.flush(ctx, guard)
	s.health.flushed(began, err == nil)
	if err != nil {
		s.note(err)
	}
	for _, told := range waiting {
		told <- err
	}
	return written, err
}

// flush writes all that changed in one transaction, or leaves it for the next flush. It returns how many rows it wrote.
func (s *Store) flush(ctx context.Context, guard *chatguard.Guard) (written int, err error) {
	if err := s.mend(ctx, guard); err != nil {
		return 0, err
	}
	// First what was changed, then what that brought about.
	p := pending{changes: s.changes.look(), tokens: s.unsaved.look(), records: s.queue.take(), interrupted: s.interrupted}
	batch := guard.Dirty()
	p.state = batch.Rows
	if err := s.write(ctx, &p); err != nil {
		batch.Release()
		s.queue.putBack(p.records)
		s.damaged = problemIn(err) == damaged
		return 0, err
	}
	batch.Confirm()
	s.queue.stored()
	s.changes.stored(p.changes)
	s.table.put(p.tokens)
	s.unsaved.stored(p.tokens)
	s.interrupted = 0
	return p.len(), nil
}

// pending is all that a flush writes.
type pending struct {
	state       []chatguard.StateRow
	records     records
	changes     waiting
	tokens      map[tokenHash]*tokenRow
	interrupted chatguard.EntryID
}

func (p *pending) len() int {
	return len(p.state) + p.records.len() + len(p.changes.revisions) + len(p.changes.audits)
}

func (p *pending) empty() bool {
	return p.len() == 0 && p.changes.empty() && len(p.tokens) == 0 && p.interrupted == 0
}

// write makes no transaction when there is nothing to write.
func (s *Store) write(ctx context.Context, p *pending) error {
	if p.empty() {
		return nil
	}
	began := time.Now()
	err := s.db.write(ctx, func(tx *sql.Tx) error {
		if err := writeState(ctx, tx, p.state); err != nil {
			return err
		}
		if err := writeRecords(ctx, tx, p.records); err != nil {
			return err
		}
		if err := writeChanges(ctx, tx, p.changes); err != nil {
			return err
		}
		if err := writeTokens(ctx, tx, p.tokens); err != nil {
			return err
		}
		return writeInterrupted(ctx, tx, p.interrupted, s.opts.Now())
	})
	if err != nil {
		return err
	}
	s.figures.flushed(p, time.Since(began))
	s.health.wrote(s.opts.Now())
	return nil
}
