package sqlite

import (
	"testing"

	sqlite3 "modernc.org/sqlite/lib"
)

// failureCode is an error of SQLite with that code.
type failureCode int

func (failureCode) Error() string { return "SQLite's text" }
func (c failureCode) Code() int   { return int(c) }

// TestProblemOf checks that the whole of an extended code counts where its first byte misleads.
func TestProblemOf(t *testing.T) {
	t.Parallel()
	for code, want := range map[failureCode]string{
		sqlite3.SQLITE_READONLY: cantWrite, sqlite3.SQLITE_READONLY_ROLLBACK: unfinished, sqlite3.SQLITE_READONLY_DBMOVED: fileGone,
		sqlite3.SQLITE_READONLY_DIRECTORY: cantWrite, sqlite3.SQLITE_CANTOPEN_FULLPATH: cantWrite, sqlite3.SQLITE_PERM: cantWrite,
		sqlite3.SQLITE_IOERR_SHORT_READ: logGone, sqlite3.SQLITE_IOERR_IN_PAGE: logGone,
		sqlite3.SQLITE_IOERR_NOMEM: outOfMemory, sqlite3.SQLITE_NOMEM: outOfMemory, sqlite3.SQLITE_IOERR_WRITE: diskFailing,
		sqlite3.SQLITE_PROTOCOL: lockedByOther, sqlite3.SQLITE_BUSY_SNAPSHOT: lockedByOther, sqlite3.SQLITE_LOCKED: lockedByOther,
		sqlite3.SQLITE_FULL: diskFull, sqlite3.SQLITE_CORRUPT_INDEX: damaged, sqlite3.SQLITE_NOTADB: damaged,
		sqlite3.SQLITE_ERROR:  "another program has changed it (SQLite's text): " + restoreBackup,
		sqlite3.SQLITE_TOOBIG: "SQLite's text",
	} {
		if got := problemOf(code); got != want {
			t.Errorf("%d: %q, want %q", int(code), got, want)
		}
	}
}
