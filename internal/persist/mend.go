package persist

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"

	"github.com/chatguard/chatguard"
)

// mend makes sure that the file can be written to: it is in its place, and whole where it was found damaged. Run only.
func (s *Store) mend(ctx context.Context, guard *chatguard.Guard) error {
	err := s.db.checkPlace()
	if errors.Is(err, fs.ErrNotExist) {
		if err = s.db.putBack(ctx); err == nil {
			s.opts.Logger.Warn("the database was moved away or deleted, and is written anew", slog.String("database", s.db.path))
		}
	}
	if err != nil && problemIn(err) == fileReplaced {
		return errors.Join(err, s.db.emptyLog(ctx))
	}
	if err != nil || !s.damaged {
		return err
	}
	if err := s.db.checkWhole(ctx); err != nil {
		return err
	}
	guard.DirtyAll() // it may be an older one that is whole now
	s.damaged = false
	return nil
}

// checkPlace refuses to write to a file that no longer has the database's name: SQLite would go on, and all of it would be lost. The error is
// an fs.ErrNotExist where nothing has that name.
func (db *database) checkPlace() error {
	file := db.file.Load()
	if file == nil {
		return nil
	}
	there, err := os.Stat(db.path)
	switch {
	case err != nil:
		return &trouble{path: db.path, problem: fileGone, err: err}
	case !os.SameFile(*file, there):
		return &trouble{path: db.path, problem: fileReplaced, err: errors.New("the file is another one")}
	}
	return nil
}

// emptyLog leaves nothing in the log beside the file's name: it would be taken for that of the other file that has the name now.
func (db *database) emptyLog(ctx context.Context) error {
	_, err := db.writer.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return explain(db.path, err)
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

// putBack writes the database where it was before it was moved away or deleted: the writing connection has it still.
func (db *database) putBack(ctx context.Context) error {
	gone := func(err error) error { return &trouble{path: db.path, problem: fileGone, err: err} }
	d, err := newDraft(db.path, "", false)
	if err != nil {
		return gone(err)
	}
	defer d.discard()
	if err := db.leave(ctx, d.part); err != nil {
		return gone(err)
	}
	for _, log := range []string{"-wal", "-shm"} {
		if err := os.Remove(db.path + log); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return gone(err)
		}
	}
	if _, err := d.publish(); err != nil {
		return gone(err)
	}
	file, err := os.Stat(db.path)
	if err != nil {
		return gone(err)
	}
	db.file.Store(&file)
	return nil
}

// leave copies the database from the file that is still open, and closes all connections to that: they know its log by name, and would take the
// next one's for it.
func (db *database) leave(ctx context.Context, copyTo string) error {
	defer db.keepIdle(idleConnections)
	db.reader.SetMaxIdleConns(0)
	if db.reader.Stats().OpenConnections > 0 {
		return errStillOpen // before the last one that can read the file is closed
	}
	writing, err := db.writer.Conn(ctx)
	if err != nil {
		return err
	}
	if _, err := writing.ExecContext(ctx, "VACUUM INTO ?", copyTo); err != nil {
		return errors.Join(err, writing.Close())
	}
	db.writer.SetMaxIdleConns(0)
	if err := writing.Close(); err != nil {
		return err
	}
	if db.writer.Stats().OpenConnections > 0 {
		return errStillOpen
	}
	return nil
}

var errStillOpen = errors.New("somebody uses it at this moment")
