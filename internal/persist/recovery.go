package persist

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/chatguard/chatguard"
)

// recoverFile checks that the file is in its place. If a damaged page was found before, it also
// checks that the whole file is intact again. Only Run calls it.
func (s *Store) recoverFile(ctx context.Context, guard *chatguard.Guard) error {
	if err := s.db.checkPlace(); err != nil {
		s.misplaced = true
		return err
	}
	if s.misplaced {
		s.db.reconnectReaders() // readers may have opened the file's replacement
		s.misplaced = false
	}
	if !s.damaged {
		return nil
	}
	if err := s.db.checkWhole(ctx); err != nil {
		return err
	}
	guard.State().DirtyAll() // the intact file may be an older copy
	s.damaged = false
	return nil
}

// checkPlace returns an error if the open file no longer has the database's name. SQLite would
// continue to write to that file, and everything written would be lost.
func (db *database) checkPlace() error {
	if db.file == nil {
		return nil
	}
	there, err := os.Stat(db.path)
	switch {
	case err != nil:
		return &databaseError{path: db.path, problem: fileGone, err: err}
	case !os.SameFile(db.file, there):
		return &databaseError{path: db.path, problem: fileReplaced, err: errors.New("the file was replaced")}
	}
	return nil
}

// isMisplaced reports whether an error says that the file isn't in its place.
func isMisplaced(err error) bool {
	failed := (*databaseError)(nil)
	return errors.As(err, &failed) && (failed.problem == fileGone || failed.problem == fileReplaced)
}

// checkWhole checks every page of the file.
func (db *database) checkWhole(ctx context.Context) error {
	var verdict string
	if err := db.reader.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return Explain(db.path, err)
	}
	if verdict != "ok" {
		db.reconnect()
		return &databaseError{path: db.path, problem: damaged, err: errors.New(verdict)}
	}
	return nil
}

// rescue runs the last flush for a file that isn't in its place but is still open in the writing
// connection. It writes everything into another file. It also empties the log at the database's
// path; otherwise SQLite would apply that log to the next file at this path.
func (s *Store) rescue(ctx context.Context, guard *chatguard.Guard, misplaced error) error {
	if s.db.writer.Stats().OpenConnections == 0 {
		return misplaced // another connection would open another file
	}
	s.db.file = nil // don't check the place or reconnect: only this connection has the file
	if _, err := s.flushAndReport(ctx, guard); err != nil {
		return errors.Join(misplaced, err)
	}
	d, err := newDraft(s.db.path+".rescued", true, s.db.path)
	if err != nil {
		return errors.Join(misplaced, err)
	}
	defer d.Discard()
	if _, err := s.db.writer.ExecContext(ctx, "VACUUM INTO ?", d.part); err != nil {
		return errors.Join(misplaced, d.explain(s.db.path, err))
	}
	if _, err := d.Publish(); err != nil {
		return errors.Join(misplaced, err)
	}
	_, err = s.db.writer.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return errors.Join(fmt.Errorf("database %s was moved or replaced: all of it is in %s; move that file back into its place", s.db.path, d.Target), Explain(s.db.path, err))
}
