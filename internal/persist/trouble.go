package persist

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// trouble is an error of the database in words for the person who has to mend it.
type trouble struct {
	path    string
	problem string // what is wrong, and after the colon how to mend it
	err     error  // what the driver said
}

func (t *trouble) Error() string { return "database " + t.path + ": " + t.problem }

func (t *trouble) Unwrap() error { return t.err }

// What is wrong, and its mend.
const (
	diskFull      = "the disk is full: free some space"
	lockedByOther = "another program keeps it locked: close that program"
	cantWrite     = "it can't be written: make the file and its directory writable for this user, or set another database"
	damaged       = "it is damaged: stop chatguard, put a backup in its place, and start again"
	diskFailing   = "the disk reports an error: check it, and the space left on it"
	fileGone      = "the file was moved away or deleted: put it back, or stop chatguard, which then writes all of it to a file called .rescued beside it"
	fileReplaced  = "another file is in its place: put the first one back, or stop chatguard, which then writes what that held to a file called .rescued beside it"
	tooSlow       = "it took too long to answer: look for other programs that use the disk"
)

// damagedAtStart is what there is to do about a damaged database that nobody uses.
const damagedAtStart = "it is damaged, or no database: put a backup in its place, move it away to start with an empty one, or set another file"

// foreignLog is a likely reason where a log lies beside it.
const foreignLog = "; if that is a backup, delete the files -wal and -shm beside it, which belong to the one before"

// explain turns an error of the driver into trouble with the database at path. Every other error, and nil, stays as it is.
func explain(path string, err error) error {
	var failure *sqlite.Error
	switch {
	case errors.As(err, new(*trouble)):
		return err
	case errors.As(err, &failure):
		return &trouble{path: path, problem: problemOf(failure), err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &trouble{path: path, problem: tooSlow, err: err}
	}
	return err
}

func problemOf(failure *sqlite.Error) string {
	switch failure.Code() & 0xff { // the rest of an extended code is detail
	case sqlite3.SQLITE_FULL:
		return diskFull
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return lockedByOther
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN:
		return cantWrite
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return damaged
	case sqlite3.SQLITE_IOERR:
		return diskFailing
	}
	return failure.Error()
}

// isLocked reports whether an error is that another program keeps the database locked, which may pass at any moment.
func isLocked(err error) bool {
	failed := (*trouble)(nil)
	return errors.As(err, &failed) && failed.problem == lockedByOther
}

// problemIn is what an error says without naming the file.
func problemIn(err error) string {
	if known := (*trouble)(nil); errors.As(err, &known) {
		return known.problem
	}
	return err.Error()
}

// unwritable is the trouble of a path at which no file can be made or opened.
func unwritable(path string, err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return &trouble{path: path, problem: diskFull, err: err}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &trouble{path: path, problem: "its directory doesn't exist: make it, or set another database", err: err}
	}
	reason := err
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		reason = failed.Err // without the lock file's name, which would only confuse
	}
	problem := fmt.Sprintf("its directory can't be written (%v): make it writable for this user, or set another database", reason)
	return &trouble{path: path, problem: problem, err: err}
}
