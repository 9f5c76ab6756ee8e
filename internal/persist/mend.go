package persist

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/chatguard/chatguard"
)

// mend makes sure that the file can be written to: it is in its place, and whole where it was found damaged. Run only.
func (s *Store) mend(ctx context.Context, guard *chatguard.Guard) error {
	if err := s.db.checkPlace(); err != nil {
		s.misplaced = true
		return err
	}
	if s.misplaced {
		s.db.reconnectReaders() // they may have opened what was in its place
		s.misplaced = false
	}
	if !s.damaged {
		return nil
	}
	if err := s.db.checkWhole(ctx); err != nil {
		return err
	}
	guard.DirtyAll() // it may be an older one that is whole now
	s.damaged = false
	return nil
}

// checkPlace refuses to write to a file that no longer has the database's name: SQLite would go on, and all of it would be lost.
func (db *database) checkPlace() error {
	if db.file == nil {
		return nil
	}
	there, err := os.Stat(db.path)
	switch {
	case err != nil:
		return &trouble{path: db.path, problem: fileGone, err: err}
	case !os.SameFile(db.file, there):
		return &trouble{path: db.path, problem: fileReplaced, err: errors.New("the file is another one")}
	}
	return nil
}

// isMisplaced reports whether an error is that the file isn't in its place.
func isMisplaced(err error) bool {
	failed := (*trouble)(nil)
	return errors.As(err, &failed) && (failed.problem == fileGone || failed.problem == fileReplaced)
}

// checkWhole looks at every page.
func (db *database) checkWhole(ctx context.Context) error {
	var verdict string
	if err := db.reader.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return explain(db.path, err)
	}
	if verdict != "ok" {
		db.reconnect()
		return &trouble{path: db.path, problem: damaged, err: errors.New(verdict)}
	}
	return nil
}

// rescue is the last flush of a file that isn't in its place: the writing connection has it open still. All of it goes into another file, and
// nothing stays in the log beside the name, because that would be taken for the log of whatever has the name next.
func (s *Store) rescue(ctx context.Context, guard *chatguard.Guard, misplaced error) error {
	if s.db.writer.Stats().OpenConnections == 0 {
		return misplaced // another connection would open another file
	}
	s.db.file = nil // nobody else is here any more
	if _, err := s.flushAndTell(ctx, guard); err != nil {
		return errors.Join(misplaced, err)
	}
	d, err := newDraft(s.db.path+".rescued", true, s.db.path)
	if err != nil {
		return errors.Join(misplaced, err)
	}
	defer d.discard()
	if _, err := s.db.writer.ExecContext(ctx, "VACUUM INTO ?", d.part); err != nil {
		return errors.Join(misplaced, d.explain(s.db.path, err))
	}
	if _, err := d.publish(); err != nil {
		return errors.Join(misplaced, err)
	}
	_, err = s.db.writer.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return errors.Join(fmt.Errorf("database %s isn't in its place: all of it is in %s, to be put there", s.db.path, d.target), explain(s.db.path, err))
}
