package persist

import (
	"bytes"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
)

// openWithLog opens a filled database. The usage of the user "in the log" is only in its log.
func openWithLog(t *testing.T, o *Options) (path string, s *Store, g *chatguard.Guard) {
	t.Helper()
	path = newFilledDatabase(t)
	s = open(t, path, o)
	g = guardOf(t, s, policy())
	say(t, g, "in the log", start)
	s.runTurn(ctx, g)
	return path, s, g
}

// leave returns a copy of what a kill of the database's owner would leave at the path.
func leave(t *testing.T, path string) (killed string) {
	t.Helper()
	killed = databasePath(t)
	for i, data := range snapshot(t, path) {
		if data != nil {
			must(t, os.WriteFile(killed+[]string{"", "-wal"}[i], data, 0o600))
		}
	}
	return killed
}

// deletions are the ways in which a running database loses its log.
var deletions = map[string]func(path string) error{
	"log":           func(path string) error { return os.Remove(path + "-wal") },
	"index":         func(path string) error { return os.Remove(path + "-shm") },
	"log and index": func(path string) error { return errors.Join(os.Remove(path+"-wal"), os.Remove(path+"-shm")) },
	"log, and other": func(path string) error {
		return errors.Join(os.Remove(path+"-wal"), os.WriteFile(path+"-wal", nil, 0o600))
	},
}

// If the log is deleted while chatguard runs, the next turn writes all of it into the database.
// What is acknowledged from then on survives a kill.
func TestLog_Deleted(t *testing.T) {
	t.Parallel()
	for name, harm := range deletions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			path, s, g := openWithLog(t, &Options{Now: at(start), Logger: slog.New(slog.NewTextHandler(&log, nil))})
			must(t, harm(path))
			say(t, g, "after", start)
			s.runTurn(ctx, g)
			s.wantHealth(t, OK, "")
			if !strings.Contains(log.String(), "truncated; nothing is lost") || s.figures.errors.Get() != 1 {
				t.Errorf("%d errors; the log says %q", s.figures.errors.Get(), log.String())
			}
			assertSame(t, g, guardOf(t, open(t, leave(t, path), nil), policy()), "0", "in the log", "after")
			say(t, g, "later", start)
			s.runTurn(ctx, g)
			must(t, s.Close())
			assertSame(t, g, guardOf(t, open(t, path, nil), policy()), "in the log", "after", "later")
		})
	}
}

// While somebody reads the deleted log, nothing is called saved, and nobody can make an incomplete
// copy.
func TestLog_DeletedWhileRead(t *testing.T) {
	t.Parallel()
	path, s, g := openWithLog(t, nil)
	reading, err := s.db.Reader.Query("SELECT * FROM state")
	must(t, err)
	reading.Next()
	s.exec(t, "PRAGMA busy_timeout = 0")
	must(t, deletions["log and index"](path))
	say(t, g, "after", start)
	s.runTurn(ctx, g)
	s.wantHealth(t, Failing, logGone)
	if saved, err := s.Record(ctx, journal.Audit{At: start, Author: "Ada", Action: "grant", ChannelID: "c1"}); saved || err != nil {
		t.Errorf("saved %v, %v", saved, err)
	}
	_, checked := Schema.Check(ctx, path)
	_, snapshots := Schema.OpenSnapshot(ctx, path)
	_, tokens := OpenTokens(ctx, path, nil)
	for _, err := range []error{checked, snapshots, tokens} {
		wantError(t, err, path, logMissing)
	}
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("somebody has begun another log: %v", err)
	}
	must(t, reading.Close())
	s.runTurn(ctx, g)
	s.wantHealth(t, OK, "")
	killed := open(t, leave(t, path), nil)
	assertSame(t, g, guardOf(t, killed, policy()), "0", "in the log", "after")
	killed.wantRows(t, "audit", 1)
}

// A copy that was being made while the log was deleted is refused.
func TestSnapshot_LogDeleted(t *testing.T) {
	t.Parallel()
	path, s, g := openWithLog(t, nil)
	src, err := Schema.OpenSnapshot(ctx, path)
	must(t, err)
	defer src.Close()
	must(t, src.CheckLog())
	must(t, deletions["log and index"](path))
	wantError(t, src.CheckLog(), path, "run this again")
	s.runTurn(ctx, g)
	wantError(t, src.CheckLog(), path, "run this again")
	_, _, err = src.Copy(ctx, path+".copy", false, nil)
	wantError(t, err, path, "run this again")
}

// A commit into a log that was deleted a moment before isn't called saved.
func TestWrite_LogDeletedBeforeCommit(t *testing.T) {
	t.Parallel()
	path := newFilledDatabase(t)
	s := open(t, path, nil)
	g := guardOf(t, s, policy())
	s.runTurn(ctx, g)
	s.changes.addAudit(journal.Audit{At: start, Author: "Ada", Action: "grant", ChannelID: "c1"})
	_, audits := s.changes.parts()
	err := s.db.Write(ctx, func(tx *sql.Tx) error {
		must(t, deletions["log"](path))
		return audits.write(ctx, tx)
	})
	wantError(t, err, path, logGone)
	s.runTurn(ctx, g)
	s.wantHealth(t, OK, "")
	open(t, leave(t, path), nil).wantRows(t, "audit", 1)
}

// If the lock file is deleted, the owner locks another one, so that it stays the only owner.
func TestLockFile_Deleted(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(lock string) error{
		"deleted":  os.Remove,
		"replaced": func(lock string) error { return errors.Join(os.Remove(lock), os.WriteFile(lock, nil, 0o600)) },
	} {
		t.Run(name, func(t *testing.T) {
			path := newFilledDatabase(t)
			s := open(t, path, nil)
			g := guardOf(t, s, policy())
			must(t, harm(path+".lock"))
			s.runTurn(ctx, g)
			s.wantHealth(t, OK, "")
			if err := sqlite.CheckOwner(path); !errors.As(err, new(*sqlite.OwnedError)) {
				t.Errorf("the owner is %v", err)
			}
			must(t, s.Close())
			must(t, sqlite.CheckOwner(path))
		})
	}
}

// What happens to the files between two turns is noticed before the next one is due.
func TestRun_LooksBetweenTurns(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(path string) error{
		"log deleted":  deletions["log"],
		"lock deleted": func(path string) error { return os.Remove(path + ".lock") },
		"linked":       func(path string) error { return os.Link(path, path+".other") },
		"written":      func(path string) error { return os.Chtimes(path, time.Time{}, start) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newFilledDatabase(t)
			s := open(t, path, nil)
			s.exec(t, "PRAGMA user_version") // from now on, the time of the last write is known
			looks, due := make(chan time.Time), make(chan bool, 1)
			go func() { due <- s.await(t.Context(), nil, looks) }()
			for range 2 { // after the first look, nothing is due
				looks <- start
			}
			must(t, harm(path))
			for range 2 {
				select {
				case <-due:
					return
				case looks <- start: // the second look may have been before the harm
				}
			}
			t.Error("it isn't noticed")
		})
	}
}

// If another process has locked the file in between, Run ends, so that only that process acts.
func TestRun_OtherOwner(t *testing.T) {
	t.Parallel()
	path := newFilledDatabase(t)
	s := open(t, path, nil)
	g := guardOf(t, s, policy())
	must(t, os.Remove(path+".lock"))
	c := startChild(t, "own", path)
	c.Next(t)
	err := s.Run(ctx, g)
	var owned *sqlite.OwnedError
	if !errors.As(err, &owned) || owned.PID != c.Process.Pid {
		t.Errorf("got %v, want an OwnedError of process %d", err, c.Process.Pid)
	}
	wantError(t, err, "is lost", "lock file was deleted", path)
	if h := s.Health(); h.State != Failing || !strings.Contains(h.Problem, "another process took the database") {
		t.Errorf("the health is %+v", h)
	}
	select {
	case <-s.Lost():
	default:
		t.Error("nobody is told")
	}
	c.Kill(t)
}

// A database with two names would have two logs and two locks.
func TestOpen_HardLink(t *testing.T) {
	t.Parallel()
	path := newFilledDatabase(t)
	other := filepath.Join(filepath.Dir(path), "other.db")
	must(t, os.Link(path, other))
	for _, name := range []string{path, other} {
		_, opened := Open(ctx, name, nil)
		_, checked := Schema.Check(ctx, name)
		_, snapshots := Schema.OpenSnapshot(ctx, name)
		_, tokens := OpenTokens(ctx, name, nil)
		for _, err := range []error{opened, checked, snapshots, tokens} {
			wantError(t, err, name, "has another name, too", "find")
		}
	}
	must(t, os.Remove(other))
	s := open(t, path, nil)
	g := guardOf(t, s, policy())
	must(t, os.Link(path, other))
	say(t, g, "anna", start)
	s.runTurn(ctx, g)
	s.wantHealth(t, Failing, sqlite.TwoNamesError(path).Error())
	if n := g.State().Dirty().Len(); n != 0 {
		t.Errorf("a file with two names isn't written: %d rows", n)
	}
	must(t, os.Remove(other))
	s.runTurn(ctx, g)
	s.wantHealth(t, OK, "")
}

// If another program writes into the file, its pages are checked at the next turn, although nothing
// has read them.
func TestFailure_OverwrittenPages(t *testing.T) {
	t.Parallel()
	path := newFilledDatabase(t)
	s := open(t, path, nil)
	g := guardOf(t, s, policy())
	say(t, g, "before", start)
	s.exec(t, "PRAGMA wal_checkpoint(TRUNCATE)")
	s.runTurn(ctx, g)
	s.exec(t, "PRAGMA wal_checkpoint(TRUNCATE)")
	whole, err := os.ReadFile(path)
	must(t, err)
	overwrite(t, path, 8*4096, 4*4096)
	later := time.Now().Add(time.Minute) // file systems don't tell moments apart
	must(t, os.Chtimes(path, later, later))
	s.runTurn(ctx, g)
	s.wantHealth(t, Failing, damaged)
	must(t, os.WriteFile(path, whole, 0o600))
	s.runTurn(ctx, g)
	s.wantHealth(t, OK, "")
	must(t, s.Close())
	assertSame(t, g, guardOf(t, open(t, path, nil), policy()), "0", "before")
}

// A last look finds pages that were overwritten without any other trace. It leaves no log.
func TestRun_EndsWithALook(t *testing.T) {
	t.Parallel()
	path := newFilledDatabase(t)
	s := open(t, path, nil)
	must(t, errors.Join(s.Run(endedContext, guardOf(t, s, policy())), s.Close()))
	for _, suffix := range []string{"-wal", "-shm"} {
		if _, err := os.Stat(path + suffix); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", suffix, err)
		}
	}
	s = open(t, path, nil)
	s.lastLook = time.Hour
	g := guardOf(t, s, policy())
	s.runTurn(ctx, g)
	info, err := os.Stat(path)
	must(t, err)
	overwrite(t, path, 8*4096, 4*4096)
	must(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
	wantError(t, s.Run(endedContext, g), path, damaged)
}
