package persist

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/journal"
)

// If another program truncates the log or its index in place, the next turn notices it before it
// writes. What was only in the log is lost, except usage. SQLite alone would go on, and move zeros
// into the database.
func TestLog_Truncated(t *testing.T) {
	t.Parallel()
	const some, nothing = "what was only in it is lost", "nothing is lost"
	for name, c := range map[string]struct {
		harm func(s *Store) error
		says string
	}{
		"log":           {truncate(0, "-wal"), some},
		"log, in part":  {truncate(40_000, "-wal"), some},
		"header":        {truncate(10, "-wal"), some},
		"index":         {truncate(0, "-shm"), nothing},
		"log and index": {func(s *Store) error { return errors.Join(truncate(40_000, "-wal")(s), truncate(0, "-shm")(s)) }, some},
		"log, after a checkpoint": {func(s *Store) error {
			_, err := s.db.Writer.Exec("PRAGMA wal_checkpoint(PASSIVE)")
			return errors.Join(err, truncate(0, "-wal")(s))
		}, nothing},
		"log, by SQLite": {func(s *Store) error {
			other, err := sql.Open("sqlite", s.db.Path)
			must(t, err)
			_, err = other.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
			return errors.Join(err, other.Close())
		}, nothing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			path := newFilledDatabase(t)
			s := open(t, path, &Options{Now: at(start), Logger: slog.New(slog.NewTextHandler(&log, nil))})
			g := guardOf(t, s, policy())
			for i := range 20 {
				say(t, g, fmt.Sprint("in the log ", i), start)
				s.runTurn(ctx, g)
			}
			must(t, c.harm(s))
			say(t, g, "after", start)
			s.runTurn(ctx, g)
			s.wantHealth(t, OK, "")
			if !strings.Contains(log.String(), c.says) || s.figures.errors.Get() != 1 {
				t.Errorf("%d errors; the log says %q", s.figures.errors.Get(), log.String())
			}
			assertSame(t, g, guardOf(t, open(t, leave(t, path), nil), policy()), "0", "in the log 0", "in the log 19", "after")
			say(t, g, "later", start)
			s.runTurn(ctx, g)
			must(t, s.Close())
			assertSame(t, g, guardOf(t, open(t, path, nil), policy()), "0", "in the log 0", "after", "later")
		})
	}
}

// truncate returns a function that truncates a file beside a database in place.
func truncate(size int64, suffix string) func(*Store) error {
	return func(s *Store) error { return os.Truncate(s.db.Path+suffix, size) }
}

// A commit into a log that was truncated a moment before isn't called saved, and its gap isn't
// moved into the database.
func TestWrite_LogTruncatedBeforeCommit(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{0, 32, 40_000} {
		path := newFilledDatabase(t)
		s := open(t, path, nil)
		g := guardOf(t, s, policy())
		for i := range 20 {
			say(t, g, fmt.Sprint("in the log ", i), start)
			s.runTurn(ctx, g)
		}
		s.changes.addAudit(journal.Audit{At: start, Author: "Ada", Action: "grant", ChannelID: "c1"})
		_, audits := s.changes.parts()
		err := s.db.Write(ctx, func(tx *sql.Tx) error {
			if err := audits.write(ctx, tx); err != nil {
				return err
			}
			return os.Truncate(path+"-wal", size)
		})
		wantError(t, err, path, logGone)
		s.runTurn(ctx, g)
		s.wantHealth(t, OK, "")
		open(t, leave(t, path), nil).wantRows(t, "audit", 1)
		must(t, s.Close())
		assertSame(t, g, guardOf(t, open(t, path, nil), policy()), "0", "in the log 0", "in the log 19")
	}
}

// While somebody reads the truncated log, nothing is called saved.
func TestLog_TruncatedWhileRead(t *testing.T) {
	t.Parallel()
	path, s, g := openWithLog(t, nil)
	other, err := sql.Open("sqlite", path) // as a backup does
	must(t, err)
	reading, err := other.Query("SELECT * FROM state")
	must(t, err)
	reading.Next()
	must(t, os.Truncate(path+"-wal", 0))
	say(t, g, "after", start)
	s.runTurn(ctx, g)
	s.wantHealth(t, Failing, logGone)
	reading.Close()
	must(t, other.Close())
	s.runTurn(ctx, g)
	s.wantHealth(t, OK, "")
	assertSame(t, g, guardOf(t, open(t, leave(t, path), nil), policy()), "0", "in the log", "after")
}

// A power cut may leave zeros at the end of a log, or nothing else in it. SQLite overwrites them,
// so the log isn't called truncated, and nothing is lost.
func TestLog_ZerosAfterPowerCut(t *testing.T) {
	t.Parallel()
	for _, size := range []int{10, 100, 5000, 50_000} {
		for name, c := range map[string]struct {
			create func(t *testing.T) (path string)
			audits int
		}{"only zeros": {newFilledDatabase, 0}, "zeros at the end": {newKilledDatabase, 1}} {
			t.Run(fmt.Sprint(name, " ", size), func(t *testing.T) {
				t.Parallel()
				path := c.create(t)
				log, err := os.OpenFile(path+"-wal", os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
				must(t, err)
				_, err = log.Write(make([]byte, size))
				must(t, errors.Join(err, log.Close()))
				known := guardOf(t, open(t, leave(t, path), nil), policy())
				s := open(t, path, nil)
				g := guardOf(t, s, policy())
				assertSame(t, known, g, "0", "in the log")
				for i := range 20 {
					say(t, g, fmt.Sprint("later ", i), start)
					s.runTurn(ctx, g)
					s.wantHealth(t, OK, "")
				}
				if n := s.figures.errors.Get(); n != 0 {
					t.Errorf("%d errors", n)
				}
				left := open(t, leave(t, path), nil)
				assertSame(t, g, guardOf(t, left, policy()), "0", "in the log", "later 0", "later 19")
				left.wantRows(t, "audit", c.audits)
			})
		}
	}
}

// newKilledDatabase returns the path of a database whose owner was killed. An audit is only in its
// log.
func newKilledDatabase(t *testing.T) string {
	t.Helper()
	path := newFilledDatabase(t)
	s := open(t, path, nil)
	g := guardOf(t, s, policy())
	say(t, g, "in the log", start)
	must(t, s.changes.addAudit(journal.Audit{At: start, Author: "Ada", Action: "grant", ChannelID: "c1"}))
	s.runTurn(ctx, g)
	return leave(t, path)
}

// If a link replaces the log, the file to which it leads stays as it is.
func TestLog_ReplacedByLink(t *testing.T) {
	t.Parallel()
	path, s, g := openWithLog(t, nil)
	other := path + ".other"
	must(t, errors.Join(os.WriteFile(other, []byte("no log"), 0o600), os.Remove(path+"-wal"), os.Symlink(other, path+"-wal")))
	say(t, g, "after", start)
	s.runTurn(ctx, g)
	s.wantHealth(t, OK, "")
	if data, err := os.ReadFile(other); err != nil || string(data) != "no log" {
		t.Errorf("the other file has %q, %v", data, err)
	}
	assertSame(t, g, guardOf(t, open(t, leave(t, path), nil), policy()), "0", "in the log", "after")
}
