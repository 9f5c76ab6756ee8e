package transfer

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/persist/persisttest"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/turntest"
)

// backUp copies the database to its own folder.
func backUp(t testing.TB, path string) Copy {
	t.Helper()
	made, err := Backup(ctx, path, filepath.Join(t.TempDir(), "backup.db"), frozen)
	must(t, err)
	return made
}

func TestBackup_EqualsDatabase(t *testing.T) {
	t.Parallel()
	path := newFilledDatabase(t)
	fillLines(t, path, oneOfEach(t))
	s := open(t, path)
	g, _ := restoreGuard(t, s)
	code, err := s.Tokens.NewSignInCode(ctx, ada, 0)
	must(t, err)
	made := backUp(t, path) // while its owner runs
	info, err := os.Stat(made.Path)
	must(t, err)
	if made.Bytes != info.Size() || !made.At.Equal(start) {
		t.Errorf("made %+v of %d bytes", made, info.Size())
	}
	assertAlone(t, made.Path)
	if got, want := dump(t, made.Path), dump(t, path); got != want {
		t.Errorf("copied\n%.2000swant\n%.2000s", got, want)
	}
	must(t, s.Close())

	again := open(t, made.Path)
	copied, _ := restoreGuard(t, again)
	persisttest.AssertSame(t, g, copied, "0", "1", "499", "new")
	if _, who, err := again.Tokens.RedeemCode(ctx, code); err != nil || !reflect.DeepEqual(who, ada) {
		t.Errorf("the sign-in is gone: %v, %v", who, err)
	}
}

// A damaged key of texts isn't copied: after a restore, chatguard couldn't start with it.
func TestBackupComplete_DamagedTextKey(t *testing.T) {
	t.Parallel()
	in := Installation{Database: newFilledDatabase(t)}
	in.TextKey = in.Database + ".textkey"
	must(t, os.WriteFile(in.TextKey, []byte("spoilt"), 0o600))
	target := filepath.Join(t.TempDir(), "backup.age")
	_, err := BackupComplete(ctx, in, target, "secret words", frozen)
	if err == nil || !strings.HasPrefix(err.Error(), "the key of texts "+in.TextKey+" is damaged: ") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
	if _, err := os.Stat(target); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a backup was written: %v", err)
	}
}

func TestCopies_KilledOwner(t *testing.T) {
	t.Parallel()
	path := databasePath(t)
	c := persisttest.StartChild(t, "pairs", path)
	waitForPairs(t, c, 20)
	c.Kill(t)
	before := persisttest.Snapshot(t, path)
	if len(before[1]) == 0 {
		t.Fatal("there is no log to read")
	}
	checkCopies(t, path, 20)
	assertUntouched(t, path, before)
}

// writePairsUntilKilled writes rows of two tables in each transaction, as fast as it can, and
// prints how many pairs there are. It never waits for a lock.
func writePairsUntilKilled(ctx context.Context, path string) error {
	return persist.Schema.Own(ctx, path, func(db *sqlite.Owned) error {
		for n := 1; ; n++ {
			err := db.Write(ctx, func(tx *sql.Tx) error {
				if _, err := tx.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil {
					return err
				}
				if _, err := tx.ExecContext(ctx, "INSERT INTO state VALUES ('c1', ?, 'burst', zeroblob(1000))", strconv.Itoa(n)); err != nil {
					return err
				}
				_, err := tx.ExecContext(ctx, "INSERT INTO channel VALUES (?, 'gardenhour')", strconv.Itoa(n))
				return err
			})
			if err != nil {
				return err
			}
			fmt.Println("wrote", n)
		}
	})
}

// waitForPairs waits until the child has written that many pairs.
func waitForPairs(t testing.TB, c *persisttest.Child, pairs int) {
	t.Helper()
	for n := 0; n < pairs; {
		_, err := fmt.Sscanf(c.Next(t), "wrote %d", &n)
		must(t, err)
	}
}

// checkCopies fails the test unless a backup and an export have that many whole pairs or more.
func checkCopies(t testing.TB, path string, pairs int) {
	t.Helper()
	src, err := persist.Schema.OpenSnapshot(ctx, backUp(t, path).Path)
	must(t, err)
	defer src.Close()
	var a, b int
	must(t, src.DB.QueryRow("SELECT (SELECT count(*) FROM state), (SELECT count(*) FROM channel)").Scan(&a, &b))
	if a != b || a < pairs {
		t.Errorf("copied %d and %d of %d pairs or more", a, b, pairs)
	}
	export := mustExport(t, path)
	a, b = bytes.Count(export, []byte(`"kind":"state"`)), bytes.Count(export, []byte(`"kind":"channel"`))
	if a != b || a < pairs {
		t.Errorf("exported %d and %d of %d pairs or more", a, b, pairs)
	}
}

func TestCopies_OneMomentBesideWriter(t *testing.T) {
	t.Parallel()
	path := databasePath(t)
	c := persisttest.StartChild(t, "pairs", path)
	for pairs := 10; pairs <= 200; pairs += 38 { // if a lock is refused, child and test fail
		waitForPairs(t, c, pairs)
		checkCopies(t, path, pairs)
	}
	c.Kill(t)
}

// copiers are the functions that write a file from a database.
var copiers = map[string]func(ctx context.Context, path, target string, opts *Options) (Copy, error){
	"backup": Backup, "export": ExportFile,
}

func TestCopies_BadDatabaseRefused(t *testing.T) {
	t.Parallel()
	turntest.Expensive(t)
	for name, step := range map[string]struct {
		harm  func(path string)
		parts []string
	}{
		"missing": {func(path string) { must(t, os.Remove(path)) }, []string{"doesn't exist", "chatguard run"}},
		"empty":   {func(path string) { must(t, os.Truncate(path, 0)) }, []string{"chatguard run"}},
		"a folder": {func(path string) {
			must(t, os.Remove(path))
			must(t, os.Mkdir(path, 0o700))
		}, []string{"is not a file"}},
		"damaged":   {func(path string) { persisttest.Overwrite(t, path, 4096, 8192) }, []string{"it is damaged, or not a database: restore a backup"}},
		"no SQLite": {func(path string) { persisttest.Overwrite(t, path, 0, 100) }, []string{"it is damaged, or not a database: restore a backup"}},
		"of another program": {func(path string) {
			persisttest.Alter(t, path, "PRAGMA application_id = 7")
		}, []string{"another program"}},
		"newer": {func(path string) { persisttest.Alter(t, path, "PRAGMA user_version = 99") }, []string{"newer chatguard", "99"}},
	} {
		for kind, write := range copiers {
			t.Run(kind+"/"+name, func(t *testing.T) {
				path, folder := newFilledDatabase(t), t.TempDir()
				step.harm(path)
				_, err := write(ctx, path, filepath.Join(folder, "copy"), nil)
				wantError(t, err, append(step.parts, path)...)
				persisttest.AssertEmpty(t, folder)
			})
		}
	}
}

func TestCopies_BadTargetRefused(t *testing.T) {
	t.Parallel()
	path := newFilledDatabase(t)
	named := path + sqlite.PartSuffix // a possible name for a database
	must(t, os.Rename(path, named))
	folder := t.TempDir()
	link, other := filepath.Join(folder, "link"), filepath.Join(folder, "other")
	elsewhere, toOther, toNothing := filepath.Join(t.TempDir(), "elsewhere"), filepath.Join(folder, "to-other"), filepath.Join(folder, "to-nothing")
	must(t, errors.Join(os.Symlink(named, link), os.WriteFile(other, []byte("theirs"), 0o600),
		os.Symlink(other, toOther), os.Symlink(elsewhere, toNothing)))
	const isLink = " is a symbolic link to "
	before := persisttest.Snapshot(t, named)
	const over, ofDatabase = "would overwrite the database", "which belongs to the database: name another file"
	for name, step := range map[string]struct {
		target string
		force  bool
		parts  []string
	}{
		"the database":           {named, true, []string{over}},
		"the database, plainly":  {named, false, []string{over}},
		"a link to it":           {link, true, []string{over}},
		"its log":                {named + "-wal", true, []string{ofDatabase}},
		"its lock":               {named + ".lock", true, []string{ofDatabase}},
		"its token":              {named + ".token", true, []string{ofDatabase}},
		"its token's lock":       {named + ".token.lock", true, []string{ofDatabase}},
		"a link to a file":       {toOther, true, []string{toOther + isLink + other, "name that file itself"}},
		"a link, plainly":        {toOther, false, []string{toOther + isLink + other, "name that file itself"}},
		"a link to nothing yet":  {toNothing, false, []string{toNothing + isLink + elsewhere, "name that file itself"}},
		"a part that would harm": {path, true, []string{over}},
		"a file":                 {other, false, []string{other + " exists already", "--force"}},
		"a folder":               {folder, true, []string{folder + " is not a regular file"}},
		"a device":               {os.DevNull, true, []string{"is not a regular file"}},
		"in no folder":           {filepath.Join(folder, "none", "copy"), true, []string{filepath.Join("none", "copy"), "its folder doesn't exist"}},
		"below a file":           {filepath.Join(other, "copy"), true, []string{filepath.Join("other", "copy"), "can't be written"}},
	} {
		for kind, write := range copiers {
			t.Run(kind+"/"+name, func(t *testing.T) {
				_, err := write(ctx, named, step.target, &Options{Force: step.force})
				wantError(t, err, step.parts...)
				assertUntouched(t, named, before)
				if theirs, err := os.ReadFile(other); err != nil || string(theirs) != "theirs" {
					t.Errorf("the other file holds %q, %v", theirs, err)
				}
				if _, err := os.Lstat(elsewhere); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("something is where a link leads: %v", err)
				}
			})
		}
	}
}

// The token file is next to the path in the configuration, which may be a link, and is protected
// too.
func TestCopies_LinkedDatabase(t *testing.T) {
	t.Parallel()
	link := filepath.Join(t.TempDir(), "link.db")
	must(t, os.Symlink(newFilledDatabase(t), link))
	must(t, os.WriteFile(link+".token", []byte("theirs"), 0o600))
	for kind, write := range copiers {
		_, err := write(ctx, link, link+".token", &Options{Force: true})
		if err == nil || !strings.Contains(err.Error(), "which belongs to the database") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestCopies_ReplaceWithForce(t *testing.T) {
	t.Parallel()
	path := newFilledDatabase(t)
	for kind, write := range copiers {
		folder := t.TempDir()
		target, link := filepath.Join(folder, "copy"), filepath.Join(t.TempDir(), "link")
		must(t, errors.Join(os.WriteFile(target, []byte("old"), 0o644), os.WriteFile(target+sqlite.PartSuffix, []byte("half"), 0o644),
			os.WriteFile(target+sqlite.PartSuffix+"-journal", []byte("half"), 0o644), os.Symlink(folder, link)))
		made, err := write(ctx, path, filepath.Join(link, "copy"), &Options{Force: true})
		must(t, err)
		if made.Path != target {
			t.Errorf("%s: wrote %s, want it in the folder that the link means: %s", kind, made.Path, target)
		}
		assertAlone(t, target)
	}
}

func TestCopies_KeepNeighbours(t *testing.T) {
	t.Parallel()
	path := newFilledDatabase(t)
	for kind, write := range copiers {
		target := filepath.Join(t.TempDir(), "copy")
		// files that a download or an editor may leave
		neighbours := []string{target + ".part", target + ".part-journal", target + ".tmp", target + "~"}
		for _, name := range neighbours {
			must(t, os.WriteFile(name, []byte("theirs"), 0o644))
		}
		_, err := write(ctx, path, target, &Options{Force: true})
		must(t, err)
		for _, name := range neighbours {
			if theirs, err := os.ReadFile(name); err != nil || string(theirs) != "theirs" {
				t.Errorf("%s: %s holds %q, %v", kind, name, theirs, err)
			}
		}
	}
}

func TestCopies_TwoToOneFile(t *testing.T) {
	t.Parallel()
	path, target := newFilledDatabase(t), filepath.Join(t.TempDir(), "copy")
	// A second copy begins and ends during the first.
	first := &Options{Force: true}
	first.Now = func() time.Time {
		_, err := Backup(ctx, path, target, &Options{Force: true, Now: at(start)})
		must(t, err)
		return start
	}
	_, err := Backup(ctx, path, target, first)
	wantError(t, err, target, "another process")
	if got, want := dump(t, target), dump(t, path); got != want {
		t.Error("the second copy isn't whole")
	}
	_, err = Backup(ctx, path, target, &Options{Force: true})
	must(t, err)
	assertAlone(t, target)
}

// TestBackup_Abandoned checks that a backup removes the database that a killed encrypted backup
// left, and leaves one alone that may be in use.
func TestBackup_Abandoned(t *testing.T) {
	t.Parallel()
	path := newFilledDatabase(t)
	left := path + ".copying" + sqlite.PartSuffix
	for age, stays := range map[time.Duration]bool{59 * time.Minute: true, time.Hour: false} {
		for _, name := range []string{left, left + "-journal"} {
			must(t, os.WriteFile(name, nil, 0o600))
			must(t, os.Chtimes(name, start.Add(-age), start.Add(-age)))
		}
		backUp(t, path)
		for _, name := range []string{left, left + "-journal"} {
			if _, err := os.Stat(name); (err == nil) != stays {
				t.Errorf("%v old: %v", age, err)
			}
		}
	}
}

func TestBackup_Stopped(t *testing.T) {
	t.Parallel()
	path, folder := newFilledDatabase(t), t.TempDir()
	stopped, stop := context.WithCancel(ctx)
	now := func() time.Time { stop(); return start } // called right before copying
	if _, err := Backup(stopped, path, filepath.Join(folder, "copy"), &Options{Now: now}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	persisttest.AssertEmpty(t, folder)
}

func BenchmarkBackup(b *testing.B) {
	path := newDatabase(b, manyLines(b, benchRows))
	for b.Loop() {
		backUp(b, path)
	}
	b.ReportMetric(benchRows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
