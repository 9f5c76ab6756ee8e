package persist

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/chatguard/chatguard/internal/persist/persisttest"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
)

// Every way to open a database undoes a write that a killed process left unfinished, as Open does.
// Only Check changes nothing, and says so.
func TestOpen_UnfinishedWrite(t *testing.T) {
	t.Parallel()
	for name, opening := range map[string]func(path string) error{
		"Open": func(path string) error { return closed(Open(ctx, path, &Options{Logger: quiet})) },
		"Own": func(path string) error {
			return Schema.Own(ctx, path, func(*sqlite.Owned) error { return nil })
		},
		"OpenSnapshot": func(path string) error {
			s, err := Schema.OpenSnapshot(ctx, path)
			if err == nil {
				_, _, err = s.Copy(ctx, path+".copy", false, nil)
				err = errors.Join(err, s.Close())
			}
			return err
		},
		"OpenTokens": func(path string) error { return closed(OpenTokens(ctx, path, nil)) },
		"EmptyLog": func(path string) error {
			held, err := sqlite.Hold(path)
			if err == nil {
				err = errors.Join(held.EmptyLog(ctx), held.Release())
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := newFilledDatabase(t)
			persisttest.Interrupt(t, path, "UPDATE state SET data = x'00'")
			before := snapshot(t, path)
			if _, err := Schema.Check(ctx, path); !errors.Is(err, sqlite.ErrUnfinished) {
				t.Errorf("Check: %v, want %v", err, sqlite.ErrUnfinished)
			}
			if string(snapshot(t, path)[0]) != string(before[0]) {
				t.Error("Check has changed the file")
			}
			must(t, opening(path))
			if left, err := os.ReadFile(path + "-journal"); len(left) > 0 {
				t.Errorf("a journal of %d bytes is left: %v", len(left), err)
			}
			s := open(t, path, nil)
			s.wantCount(t, 0, "SELECT count(*) FROM state WHERE data = x'00'")
			s.wantRows(t, "state", 1500)
		})
	}
}

// closed closes what was opened.
func closed(opened interface{ Close() error }, err error) error {
	if err != nil {
		return err
	}
	return opened.Close()
}

// A database that another program has changed is refused by everything that opens it, with the fix.
func TestOpen_ChangedByOthers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ harm, want string }{
		"table gone":    {"DROP TABLE journal", "lacks the table journal"},
		"column gone":   {"ALTER TABLE note DROP COLUMN text", "lacks the column text of the table note"},
		"table renamed": {"ALTER TABLE state RENAME TO states", "lacks the table state"},
		"no version":    {"PRAGMA user_version = 0", "has tables but no version"},
		"older version": {"PRAGMA user_version = 10", "has the version 10, but the column"},
	} {
		t.Run(name, func(t *testing.T) {
			path := newFilledDatabase(t)
			alter(t, path, test.harm)
			_, err := Open(ctx, path, &Options{Logger: quiet})
			wantError(t, err, path+" was changed by another program, and "+test.want, ": restore a backup")
			_, checked := Schema.Check(ctx, path)
			_, snapshots := Schema.OpenSnapshot(ctx, path)
			_, tokens := OpenTokens(ctx, path, nil)
			for by, other := range map[string]error{"Check": checked, "OpenSnapshot": snapshots, "OpenTokens": tokens} {
				if other == nil || other.Error() != err.Error() {
					t.Errorf("%s: %v", by, other)
				}
			}
			wantError(t, Schema.CheckCopy(ctx, path, "the backup"), "the backup was changed by another program, and "+test.want, "use another backup")
		})
	}
}

// What is more than this program knows does no harm.
func TestOpen_AddedByOthers(t *testing.T) {
	t.Parallel()
	path := newFilledDatabase(t)
	alter(t, path, "CREATE TABLE mine (id); CREATE INDEX mine_too ON journal (login); ANALYZE")
	must(t, closed(Open(ctx, path, &Options{Logger: quiet})))
	must(t, Schema.CheckCopy(ctx, path, "the backup"))
}

// A database that a process owns and that uses a log must have one. A copy uses none until its
// first change.
func TestCheck_OwnedWithoutLog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "copy.db")
	src, err := Schema.OpenSnapshot(ctx, newFilledDatabase(t))
	must(t, err)
	_, _, err = src.Copy(ctx, path, false, nil)
	must(t, errors.Join(err, src.Close()))
	check := func() error {
		held, err := sqlite.Hold(path)
		must(t, err)
		_, err = Schema.Check(ctx, path)
		return errors.Join(err, held.Release())
	}
	must(t, check())
	s := open(t, path, nil)
	s.exec(t, "DELETE FROM note")
	must(t, s.Close())
	_, err = Schema.Check(ctx, path)
	must(t, err)
	wantError(t, check(), path, logMissing)
}

// A copy that lacks its last bytes is noticed, although SQLite reads zeros in their place.
func TestCheckCopy_Cut(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "copy.db")
	s, err := Schema.OpenSnapshot(ctx, newFilledDatabase(t))
	must(t, err)
	_, size, err := s.Copy(ctx, path, false, nil)
	must(t, errors.Join(err, s.Close()))
	must(t, Schema.CheckCopy(ctx, path, "the backup"))
	for _, lacks := range []int64{1, 2, 100, 4095, 4096, size / 2} {
		must(t, os.Truncate(path, size-lacks))
		wantError(t, Schema.CheckCopy(ctx, path, "the backup"), "the backup is damaged: use another backup")
		_, err := Open(ctx, path, &Options{Logger: quiet})
		wantError(t, err, path, "damaged")
		data, err := os.ReadFile(path)
		must(t, err)
		must(t, os.WriteFile(path, append(data, make([]byte, lacks)...), 0o600))
	}
}
