package persist

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/chatguard/chatguard"
)

// lastFlushTime bounds the flush that Run ends with.
const lastFlushTime = 10 * time.Second

var errNotRestored = errors.New("the stored state must be restored before anything is written over it")

// Run writes behind until the context ends: a flush starts at once and then every FlushInterval, or when the last one ends. Trouble with the
// database doesn't stop it: nothing is forgotten, each interval tries again, and Health tells.
//
// When the context ends, Run writes everything once more, within 10 s of its own, and returns; the error says what is lost. End the context
// only when nobody calls Check, Observe or Report any more. Run must not be called twice, nor before Restore.
func (s *Store) Run(ctx context.Context, guard *chatguard.Guard) error {
	if !s.restored.Load() {
		return errNotRestored
	}
	ticker := time.NewTicker(s.opts.FlushInterval)
	defer ticker.Stop()
	for {
		// A flush that has begun is finished, also when the context ends meanwhile.
		s.turn(context.WithoutCancel(ctx), guard)
		select {
		case <-ctx.Done():
			return s.finish(context.WithoutCancel(ctx), guard)
		case <-ticker.C:
		}
	}
}

// turn is a flush, then a step of retention, and the note of how they went.
func (s *Store) turn(ctx context.Context, guard *chatguard.Guard) {
	err := s.flush(ctx, guard)
	if err == nil {
		err = s.sweep(ctx)
	}
	s.note(err)
}

func (s *Store) finish(ctx context.Context, guard *chatguard.Guard) error {
	ctx, cancel := context.WithTimeout(ctx, lastFlushTime)
	defer cancel()
	err := s.flush(ctx, guard)
	s.note(err)
	if err != nil {
		return fmt.Errorf("what users spent and the journal noted since the last flush is lost: %w", err)
	}
	return nil
}

// flush writes all that changed in one transaction, or leaves it for the next flush.
func (s *Store) flush(ctx context.Context, guard *chatguard.Guard) error {
	batch, waiting := guard.Dirty(), s.queue.take()
	if err := s.writeAll(ctx, batch.Rows, waiting); err != nil {
		batch.Release()
		s.queue.putBack(waiting)
		return err
	}
	batch.Confirm()
	return nil
}

// writeAll makes no transaction when there is nothing to write.
func (s *Store) writeAll(ctx context.Context, rows []chatguard.StateRow, waiting records) error {
	if len(rows) == 0 && waiting.empty() && s.interrupted == 0 {
		return nil
	}
	err := s.db.write(ctx, func(tx *sql.Tx) error {
		if err := writeState(ctx, tx, rows); err != nil {
			return err
		}
		if err := writeRecords(ctx, tx, waiting); err != nil {
			return err
		}
		return writeInterrupted(ctx, tx, s.interrupted, s.opts.Now())
	})
	if err != nil {
		return err
	}
	s.interrupted = 0
	s.health.wrote(len(rows), len(waiting.entries), s.opts.Now())
	return nil
}
