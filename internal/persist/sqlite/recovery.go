package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// Recovery is what Recover has found and repaired.
type Recovery struct {
	Repaired string // a text for chatguard's log; "" if nothing was repaired
	// IsOther means that the file is intact, but may be another one, such as a backup. Everything
	// that it should contain must be written again.
	IsOther bool
}

// Recover checks that the database's files are in their places, and that no other program has
// written to the database. It repairs what it can. The error is an *OwnedError if the lock file was
// deleted and another process owns the database now. Call it before each write of the owner.
func (db *DB) Recover(ctx context.Context) (found Recovery, err error) {
	if db.lock == nil {
		return found, nil // in memory
	}
	unlocked := db.lock.keep(db.Path)
	if errors.As(unlocked, new(*OwnedError)) {
		return found, fmt.Errorf("the database's lock file was deleted, and another process took the database: %w", unlocked)
	}
	touched := db.place.isTouched() // before recoverLog writes to it
	err = db.place.check()
	if isLogGone(err) {
		found.Repaired, err = db.recoverLog(ctx, err)
	}
	if err == nil {
		err = unlocked
	}
	if err != nil || !db.damaged && !touched {
		return found, err
	}
	db.damaged = true
	db.closeIdle() // open connections may have cached the former pages
	if err := db.checkWhole(ctx); err != nil {
		return found, err
	}
	db.place.accept()
	db.damaged = false
	found.IsOther = true
	return found, nil
}

// NoteFailure remembers if err says that a page is damaged. Recover then checks all pages.
func (db *DB) NoteFailure(err error) { db.damaged = db.damaged || Problem(err) == damaged }

// IsTouched reports whether Recover has something to do.
func (db *DB) IsTouched() bool {
	return db.place.check() != nil || db.place.checkNames() != nil || db.place.isTouched() || !db.lock.isInPlace()
}

// CheckNames returns an error if the file has another name, too: then it couldn't be opened again.
func (db *DB) CheckNames() error { return db.place.checkNames() }

// recoverLog moves the contents of a deleted or truncated write-ahead log into the database. Then
// it closes all connections, so that the next one begins another log. It returns lost if that isn't
// possible yet, because somebody still reads.
func (db *DB) recoverLog(ctx context.Context, lost error) (repaired string, err error) {
	isWhole, err := db.moveLog(ctx, lost)
	if err != nil {
		return "", err
	}
	if !db.closeIdle() {
		return "", lost
	}
	if isWhole {
		return "the database's log or its index was deleted, replaced or truncated; nothing is lost, and chatguard has begun another one", nil
	}
	db.damaged = true // until Recover has checked it
	return "the database's log was truncated; what was only in it is lost, except users' usage, and chatguard has begun another one", nil
}

// moveLog moves the contents of the log into the database. isWhole is false if the log lacks
// something; nothing is moved then. moveLog returns lost if somebody reads the log.
func (db *DB) moveLog(ctx context.Context, lost error) (isWhole bool, err error) {
	isCut, noIndex := db.place.areCut()
	if isCut {
		// Otherwise, the rest of the log would be moved with zeros in place of what is missing.
		if err := os.Truncate(db.Path+besideSuffixes[0], 0); err != nil {
			return false, err
		}
	}
	// The next connection can make an index from the log, and without a connection for writing,
	// this process has written nothing.
	if noIndex || db.Writer.Stats().OpenConnections == 0 {
		return !isCut, nil
	}
	defer db.place.beginWrite()()
	var busy, frames, moved int
	err = db.Writer.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved)
	switch err = Explain(db.Path, err); {
	case isLogGone(err):
		return false, nil
	case err == nil && busy != 0:
		return false, lost
	}
	return true, err
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

// isLogGone reports whether an error says that the log was deleted, replaced or truncated.
func isLogGone(err error) bool {
	failed := (*Error)(nil)
	return errors.As(err, &failed) && failed.problem == logGone
}

// IsMisplaced reports whether an error says that the file isn't in its place.
func IsMisplaced(err error) bool {
	failed := (*Error)(nil)
	return errors.As(err, &failed) && (failed.problem == fileGone || failed.problem == fileReplaced)
}

// checkWhole checks every page of the file.
func (db *DB) checkWhole(ctx context.Context) error {
	var verdict string
	if err := db.Reader.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return Explain(db.Path, err)
	}
	if verdict != "ok" {
		db.reconnect()
		return &Error{path: db.Path, problem: damaged, err: errors.New(verdict)}
	}
	return nil
}

// CheckAtEnd checks the pages of the database after the last write. It returns no error if the
// limit ends first.
func (db *DB) CheckAtEnd(ctx context.Context, limit time.Duration) error {
	if db.lock == nil {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	closeIdleOf(db.Reader) // not the writer's, which closes last
	err := db.checkWhole(ctx)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// Rescue saves a database whose file isn't in its place but is still open in the writing
// connection. flush must write what isn't written yet. Then Rescue writes everything into another
// file, which the error names. It also empties the log at the database's path; otherwise SQLite
// would apply that log to the next file at this path. The error contains misplaced if that isn't
// possible.
func (db *DB) Rescue(ctx context.Context, misplaced error, flush func() error) error {
	if db.Writer.Stats().OpenConnections == 0 {
		return misplaced // another connection would open another file
	}
	db.place.leave() // only this connection has the file
	if err := flush(); err != nil {
		return errors.Join(misplaced, err)
	}
	d, err := newDraft(db.Path+rescuedSuffix, true, db.Path)
	if err != nil {
		return errors.Join(misplaced, err)
	}
	defer d.Discard()
	if _, err := db.Writer.ExecContext(ctx, "VACUUM INTO ?", d.part); err != nil {
		return errors.Join(misplaced, d.explain(db.Path, err))
	}
	if _, err := d.Publish(); err != nil {
		return errors.Join(misplaced, err)
	}
	_, err = db.Writer.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return errors.Join(fmt.Errorf("database %s was moved or replaced: all of it is in %s; move that file back into its place", db.Path, d.Target), Explain(db.Path, err))
}
