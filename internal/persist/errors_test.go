package persist

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// lock holds the database's write lock, as another program would, until unlock is called.
func lock(t *testing.T, path string) (unlock func()) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	must(t, err)
	conn, err := db.Conn(ctx)
	must(t, err)
	_, err = conn.ExecContext(ctx, "BEGIN IMMEDIATE")
	must(t, err)
	return func() {
		t.Helper()
		_, err := conn.ExecContext(ctx, "ROLLBACK")
		must(t, errors.Join(err, conn.Close(), db.Close()))
	}
}

// failures are the ways in which a running database fails and recovers.
var failures = map[string]struct {
	problem string
	harm    func(t *testing.T, s *Store) (repair func())
}{
	"locked": {lockedByOther, func(t *testing.T, s *Store) func() {
		s.exec(t, "PRAGMA busy_timeout = 0")
		return lock(t, s.db.path)
	}},
	"disk full": {diskFull, func(t *testing.T, s *Store) func() {
		s.exec(t, "PRAGMA max_page_count = 1")
		return func() { s.exec(t, "PRAGMA max_page_count = 1000000") }
	}},
	"replaced": {fileReplaced, func(t *testing.T, s *Store) func() {
		must(t, os.Rename(s.db.path, s.db.path+".away"))
		must(t, os.WriteFile(s.db.path, []byte("a backup"), 0o600))
		return func() { must(t, os.Rename(s.db.path+".away", s.db.path)) }
	}},
	"damaged page": {damaged, func(t *testing.T, s *Store) func() {
		s.exec(t, "PRAGMA wal_checkpoint(TRUNCATE)")
		whole, err := os.ReadFile(s.db.path)
		must(t, err)
		overwrite(t, s.db.path, 4096, int64(len(whole))-4096)
		s.exec(t, "PRAGMA shrink_memory") // so that the pages are read again
		return func() { must(t, os.WriteFile(s.db.path, whole, 0o600)) }
	}},
}

func TestFailure_VisibleAndPasses(t *testing.T) {
	t.Parallel()
	for name, failure := range failures {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			now := start
			path := newFilledDatabase(t)
			s := open(t, path, &Options{Now: func() time.Time { return now }, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			g := guardOf(t, s, policy())
			s.runTurn(ctx, g)
			log.Reset()

			repair := failure.harm(t, s)
			for range 3 {
				now = now.Add(time.Second)
				for i := range 300 {
					say(t, g, fmt.Sprint("new", i), now)
				}
				s.Observe(throttledMessage(int(now.UnixNano()), "c1", "x", time.Second))
				s.runTurn(ctx, g)
			}
			h := s.Health()
			if h.State != Failing || h.Problem != failure.problem || !h.Since.Equal(start.Add(time.Second)) || h.Waiting != 3*301+3 || h.Lag != 3*time.Second {
				t.Errorf("while failing: %+v", h)
			}
			if lines := strings.Count(log.String(), "\n"); lines != 1 {
				t.Errorf("logged %d lines:\n%s", lines, &log)
			}

			repair()
			now = now.Add(time.Second)
			s.runTurn(ctx, g)
			h = s.Health()
			if h.State != OK || h.Problem != "" || !h.Since.Equal(now) || !h.LastFlush.Equal(now) || h.Waiting != 0 || h.Dropped != (Dropped{}) || h.Lag != 0 {
				t.Errorf("after: %+v", h)
			}
			if lines := strings.Count(log.String(), "\n"); lines != 2 {
				t.Errorf("logged %d lines:\n%s", lines, &log)
			}
			must(t, s.Close())

			again := open(t, path, nil)
			assertSame(t, g, guardOf(t, again, policy()), "0", "new0", "new299")
			again.wantCount(t, 3, "SELECT count(*) FROM journal WHERE user_id = 'x'")
		})
	}
}

func TestFlush_LastFailureIsAnError(t *testing.T) {
	t.Parallel()
	path := newDatabase(t)
	s := open(t, path, nil)
	g := guardOf(t, s, policy())
	s.Observe(throttledMessage(1, "c1", "u", time.Second))
	failures["disk full"].harm(t, s)
	wantError(t, s.Run(endedContext, g), "lost", path, diskFull)
}

// If the file is deleted, moved or replaced while chatguard runs, neither its contents nor later
// data are lost.
func TestRescue_MisplacedFile(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		harm    func(path string) error
		problem string
	}{
		"deleted": {os.Remove, fileGone},
		"deleted with log": {func(path string) error {
			return errors.Join(os.Remove(path), os.Remove(path+"-wal"), os.Remove(path+"-shm"))
		}, fileGone},
		"moved": {func(path string) error { return os.Rename(path, path+".away") }, fileGone},
		"replaced": {func(path string) error {
			return errors.Join(os.Rename(path, path+".away"), os.WriteFile(path, []byte("another file"), 0o600))
		}, fileReplaced},
	} {
		t.Run(name, func(t *testing.T) {
			path, s, g := openWithLog(t, nil)
			session := signIn(t, s.Tokens)
			must(t, test.harm(path))
			before, _ := os.ReadFile(path) // none, or the other file
			say(t, g, "after", start)
			s.runTurn(ctx, g)
			s.wantHealth(t, Failing, test.problem)
			wantSession(t, s.Tokens, session, "Ada")
			wantError(t, s.Run(endedContext, g), path+".rescued")
			must(t, s.Close())
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the file in its place has changed")
			}
			if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
				t.Errorf("%d bytes of log are left for it", log.Size())
			}

			if before == nil {
				_, err := Open(ctx, path, &Options{Logger: quiet})
				wantError(t, err, path+".rescued has all of it: move that file into its place")
			}
			again := open(t, path+".rescued", nil)
			g.State().SetDegraded(false)
			assertSame(t, g, guardOf(t, again, policy()), "0", "499", "in the log", "after")
			wantSession(t, again.Tokens, session, "Ada")
			again.wantRows(t, "journal", 500)
		})
	}
}

// While chatguard runs, a backup is copied into the damaged file itself. The store then writes all
// state that is newer in memory than in the backup.
func TestFailure_BackupOverDamagedFile(t *testing.T) {
	t.Parallel()
	path := newFilledDatabase(t)
	backup, err := os.ReadFile(path)
	must(t, err)
	s := open(t, path, nil)
	g := guardOf(t, s, policy())
	for range 50 {
		say(t, g, "7", start.Add(time.Hour))
	}
	s.runTurn(ctx, g)
	failures["damaged page"].harm(t, s)
	for i := range 300 {
		say(t, g, fmt.Sprint("new", i), start)
	}
	s.runTurn(ctx, g)
	s.wantHealth(t, Failing, damaged)
	must(t, os.WriteFile(path, backup, 0o600))
	s.runTurn(ctx, g)
	s.wantHealth(t, OK, "")
	must(t, s.Close())
	assertSame(t, g, guardOf(t, open(t, path, nil), policy()), "7", "8", "new0", "new299")
}

func TestFlush_LastWaitsForLock(t *testing.T) {
	t.Parallel()
	path := newDatabase(t)
	s := open(t, path, nil)
	g := guardOf(t, s, policy())
	say(t, g, "u", start)
	unlock := failures["locked"].harm(t, s)
	ran := make(chan error)
	go func() { ran <- s.Run(endedContext, g) }()
	for s.figures.errors.Get() < 3 { // the store has tried, and retries
		runtime.Gosched()
	}
	unlock()
	must(t, <-ran)
	s.wantRows(t, "state", 2) // one for each limit
}

func TestRetention_FailureIsReported(t *testing.T) {
	t.Parallel()
	s, g := openWithGuard(t, nil)
	repair := failures["locked"].harm(t, s)
	s.runTurn(ctx, g)
	s.wantHealth(t, Failing, lockedByOther)
	repair()
	s.runTurn(ctx, g)
	s.wantHealth(t, OK, "")
}

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
