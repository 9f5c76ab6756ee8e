package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Error is an error of the database, worded for the person who has to fix it.
type Error struct {
	path    string
	problem string // what is wrong, a colon, and the fix
	err     error  // the driver's error
}

func (t *Error) Error() string { return "database " + t.path + ": " + t.problem }

func (t *Error) Unwrap() error { return t.err }

// The problems and how to fix them.
const (
	diskFull      = "the disk is full: free some space"
	lockedByOther = "another program keeps it locked: close that program"
	cantWrite     = "it can't be written: make the file and its directory writable for this user, or set another database"
	damaged       = "it is damaged: stop chatguard, restore a backup, and start again"
	diskFailing   = "the disk reports an error: check it, and the space left on it"
	fileGone      = "the file was moved away or deleted: put it back, or stop chatguard, which then saves all of it beside it, in a file that ends in .rescued"
	logGone       = "its log, the files -wal and -shm beside it, was deleted, replaced or truncated: leave these files alone; within seconds, chatguard writes what it has of it into the database and begins another log"
	fileReplaced  = "another file is in its place: put the original back, or stop chatguard, which then saves the original's contents beside it, in a file that ends in .rescued"
	outOfMemory   = "there is not enough memory: free some"
	tooSlow       = "it took too long to answer: check for other programs that use the disk"
)

// unfinished is the problem of a database that only its owner can read.
const unfinished = "a write to it was interrupted: start chatguard, which undoes it"

// logMissing is the problem of a database that another process owns, without a write-ahead log.
const logMissing = "its log, the files -wal and -shm beside it, is missing; the process that uses it is starting, stopping or restoring it, or the log was deleted: run this again in a moment"

// restoreBackup is the fix for a database that another program has changed.
const restoreBackup = "restore a backup, or set another database"

// damagedAtStart is the text for a damaged database that nobody uses, with the fix.
const damagedAtStart = "it is damaged, or not a database: restore a backup, move it away to start with an empty one, or set another file"

// foreignLog names a likely reason for the damage if there is a log beside the file.
const foreignLog = "; if that is a backup, delete the files -wal and -shm beside it, which belong to the previous database"

// Explain turns a driver error into one that names the database at path, the problem and the fix.
// It returns all other errors, and nil, unchanged.
func Explain(path string, err error) error {
	var failure *sqlite.Error
	switch {
	case errors.As(err, new(*Error)):
		return err
	case errors.As(err, &failure):
		return &Error{path: path, problem: problemOf(failure), err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{path: path, problem: tooSlow, err: err}
	}
	return err
}

// problemOf returns the problem and the fix for an error of SQLite, a *sqlite.Error outside tests.
func problemOf(failure interface {
	error
	Code() int
}) string {
	switch failure.Code() { // an extended code: its low byte isn't the whole cause
	case sqlite3.SQLITE_READONLY_ROLLBACK:
		return unfinished
	case sqlite3.SQLITE_READONLY_DBMOVED:
		return fileGone
	// The former concerns the log, because SQLite reads zeros without an error past the end of the
	// database. The latter concerns the log's index.
	case sqlite3.SQLITE_IOERR_SHORT_READ, sqlite3.SQLITE_IOERR_IN_PAGE:
		return logGone
	case sqlite3.SQLITE_IOERR_NOMEM:
		return outOfMemory
	}
	switch failure.Code() & 0xff {
	case sqlite3.SQLITE_ERROR:
		return fmt.Sprintf("another program has changed it (%v): %s", failure, restoreBackup)
	case sqlite3.SQLITE_NOMEM:
		return outOfMemory
	case sqlite3.SQLITE_PROTOCOL:
		return lockedByOther
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

// IsTemporary reports whether an error usually passes within seconds: another program keeps the
// database locked, or its log is gone, and somebody still reads it.
func IsTemporary(err error) bool {
	failed := (*Error)(nil)
	return errors.As(err, &failed) && (failed.problem == lockedByOther || failed.problem == logGone)
}

// Problem returns the text of an error without the file's name, or "" for nil.
func Problem(err error) string {
	if err == nil {
		return ""
	}
	if known := (*Error)(nil); errors.As(err, &known) {
		return known.problem
	}
	return err.Error()
}

// Windows' equivalents of syscall.ENOSPC. The numbers mean other errors elsewhere.
const (
	windowsHandleDiskFull = syscall.Errno(39)
	windowsDiskFull       = syscall.Errno(112)
)

// IsDiskFull reports whether an error of the system means that the disk is full.
func IsDiskFull(err error) bool {
	if runtime.GOOS == "windows" {
		return errors.Is(err, windowsDiskFull) || errors.Is(err, windowsHandleDiskFull)
	}
	return errors.Is(err, syscall.ENOSPC)
}

// unwritableError returns the error for a path where no file can be created or opened.
func unwritableError(path string, err error) error {
	if IsDiskFull(err) {
		return &Error{path: path, problem: diskFull, err: err}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &Error{path: path, problem: "its directory doesn't exist: create it, or set another database", err: err}
	}
	reason := err
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		reason = failed.Err // omit the lock file's name: it would confuse
	}
	problem := fmt.Sprintf("its directory can't be written (%v): make it writable for this user, or set another database", reason)
	return &Error{path: path, problem: problem, err: err}
}
