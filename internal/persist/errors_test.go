package persist

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/persist/persisttest"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
)

// What people see of a failing database.
const (
	diskFull      = "the disk is full: free some space"
	lockedByOther = "another program keeps it locked: close that program"
	cantWrite     = "it can't be written: make the file and its directory writable for this user, or set another database"
	damaged       = "it is damaged: stop chatguard, restore a backup, and start again"
	fileGone      = "the file was moved away or deleted: put it back, or stop chatguard, which then saves all of it beside it, in a file that ends in .rescued"
	fileReplaced  = "another file is in its place: put the original back, or stop chatguard, which then saves the original's contents beside it, in a file that ends in .rescued"
	logGone       = "its log, the files -wal and -shm beside it, was deleted, replaced or truncated: leave these files alone; within seconds, chatguard writes what it has of it into the database and begins another log"
	logMissing    = "its log, the files -wal and -shm beside it, is missing; the process that uses it is starting, stopping or restoring it, or the log was deleted: run this again in a moment"
)

// isFileError reports whether err comes from the database.
func isFileError(err error) bool { return errors.As(err, new(*sqlite.Error)) }

// failures are the ways in which a running database fails and recovers.
var failures = map[string]struct {
	problem string
	harm    func(t *testing.T, s *Store) (repair func())
}{
	"locked": {lockedByOther, func(t *testing.T, s *Store) func() {
		s.exec(t, "PRAGMA busy_timeout = 0")
		return persisttest.Lock(t, s.db.Path)
	}},
	"disk full": {diskFull, func(t *testing.T, s *Store) func() {
		s.exec(t, "PRAGMA max_page_count = 1")
		return func() { s.exec(t, "PRAGMA max_page_count = 1000000") }
	}},
	"replaced": {fileReplaced, func(t *testing.T, s *Store) func() {
		must(t, os.Rename(s.db.Path, s.db.Path+".away"))
		must(t, os.WriteFile(s.db.Path, []byte("a backup"), 0o600))
		return func() { must(t, os.Rename(s.db.Path+".away", s.db.Path)) }
	}},
	"damaged page": {damaged, func(t *testing.T, s *Store) func() {
		s.exec(t, "PRAGMA wal_checkpoint(TRUNCATE)")
		whole, err := os.ReadFile(s.db.Path)
		must(t, err)
		overwrite(t, s.db.Path, 4096, int64(len(whole))-4096)
		s.exec(t, "PRAGMA shrink_memory") // so that the pages are read again
		return func() { must(t, os.WriteFile(s.db.Path, whole, 0o600)) }
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
