package persist

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/chatguard/chatguard"
)

// recoverFile checks that the database's files are in their places, and that no other program has
// written to the database. It repairs what it can. Only Run calls it.
func (s *Store) recoverFile(ctx context.Context, guard *chatguard.Guard) error {
	if s.lock == nil {
		return nil // in memory
	}
	unlocked := s.keepLock()
	if s.lost != nil {
		return s.lost
	}
	touched := s.db.place.isTouched() // before recoverLog writes to it
	err := s.db.place.check()
	if isLogGone(err) {
		err = s.recoverLog(ctx, err)
	}
	if err == nil {
		err = unlocked
	}
	if err != nil {
		return err
	}
	if !s.damaged && !touched {
		return nil
	}
	s.damaged = true
	s.db.closeIdle() // open connections may have cached the former pages
	if err := s.db.checkWhole(ctx); err != nil {
		return err
	}
	s.db.place.accept()
	guard.State().DirtyAll() // the intact file may be an older copy
	s.damaged = false
	return nil
}

// recoverLog moves what is in a log that was deleted or truncated into the database. Then it closes
// all connections, so that the next one begins another log. lost is the error if that isn't
// possible yet, because somebody still reads.
func (s *Store) recoverLog(ctx context.Context, lost error) error {
	isWhole, err := s.moveLog(ctx, lost)
	if err != nil {
		return err
	}
	if !s.db.closeIdle() {
		return lost
	}
	s.figures.errors.Inc()
	text := "the database's log or its index was deleted, replaced or truncated; nothing is lost, and chatguard has begun another one"
	if !isWhole {
		s.damaged = true // until recoverFile has checked it
		text = "the database's log was truncated; what was only in it is lost, except users' usage, and chatguard has begun another one"
	}
	s.opts.Logger.Error(text, slog.String("database", s.db.path))
	return nil
}

// moveLog moves what is in the log into the database. isWhole is false if the log lacks something,
// so that nothing was moved. lost is the error if somebody reads the log.
func (s *Store) moveLog(ctx context.Context, lost error) (isWhole bool, err error) {
	isCut, noIndex := s.db.place.areCut()
	if isCut {
		// What is left would be moved without the rest, and zeros in its place.
		if err := os.Truncate(s.db.path+besideSuffixes[0], 0); err != nil {
			return false, err
		}
	}
	// The next connection can make an index from the log, and without a connection for writing,
	// this process has written nothing.
	if noIndex || s.db.writer.Stats().OpenConnections == 0 {
		return !isCut, nil
	}
	defer s.db.place.beginWrite()()
	var busy, frames, moved int
	err = s.db.writer.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved)
	switch err = Explain(s.db.path, err); {
	case isLogGone(err):
		return false, nil
	case err == nil && busy != 0:
		return false, lost
	}
	return true, err
}

// keepLock takes ownership again if the lock file was deleted or replaced. If another process owns
// the database now, keepLock ends Run.
func (s *Store) keepLock() error {
	err := s.lock.keep(s.db.path)
	if errors.As(err, new(*OwnedError)) {
		s.lost = fmt.Errorf("the database's lock file was deleted, and another process took the database: %w", err)
	}
	return err
}

// isInPlace reports whether the lock file has its name. Otherwise other processes lock another file
// of this name. A nil lock is that of a database in memory.
func (l *ownerLock) isInPlace() bool {
	if l == nil {
		return true
	}
	mine, err := l.file.Stat()
	if err != nil {
		return true // it was released
	}
	there, err := os.Lstat(l.file.Path())
	return err == nil && os.SameFile(mine, there)
}

// keep takes the lock again if the lock file was deleted or replaced. The error is an *OwnedError
// if another process has taken it.
func (l *ownerLock) keep(path string) error {
	if l.isInPlace() {
		return nil
	}
	again, err := lockDatabase(path)
	if err != nil {
		return err
	}
	former := l.file
	l.file = again.file
	return former.Unlock()
}

// isLogGone reports whether an error says that the log was deleted or replaced.
func isLogGone(err error) bool {
	failed := (*databaseError)(nil)
	return errors.As(err, &failed) && failed.problem == logGone
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

// lastLook is for how long a database is checked before a clean end. A large one is checked only in
// part.
const lastLook = 2 * time.Second

// checkAtEnd checks the pages of a database to which everything is written.
func (s *Store) checkAtEnd(ctx context.Context) error {
	if s.lock == nil {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, s.lastLook)
	defer stop()
	closeIdleOf(s.db.reader) // not the writer's, which closes last
	err := s.db.checkWhole(ctx)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// rescue runs the last flush for a file that isn't in its place but is still open in the writing
// connection. It writes everything into another file. It also empties the log at the database's
// path; otherwise SQLite would apply that log to the next file at this path.
func (s *Store) rescue(ctx context.Context, guard *chatguard.Guard, misplaced error) error {
	if s.db.writer.Stats().OpenConnections == 0 {
		return misplaced // another connection would open another file
	}
	s.db.place.leave() // only this connection has the file
	if _, err := s.flushAndReport(ctx, guard); err != nil {
		return errors.Join(misplaced, err)
	}
	d, err := newDraft(s.db.path+rescuedSuffix, true, s.db.path)
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
