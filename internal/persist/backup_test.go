package persist

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// backUp copies the database to a folder of its own.
func backUp(t testing.TB, path string) Copy {
	t.Helper()
	made, err := Backup(ctx, path, filepath.Join(t.TempDir(), "backup.db"), frozen)
	must(t, err)
	return made
}

func TestBackupIsTheDatabase(t *testing.T) {
	path := filled(t)
	fillLines(t, path, oneOfEach(t))
	s := open(t, path, nil)
	g := guardOf(t, s, policy())
	code, err := s.NewSignInCode(ctx, ada, 0)
	must(t, err)
	made := backUp(t, path) // beside its owner
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

	again := open(t, made.Path, nil)
	assertSame(t, g, guardOf(t, again, policy()), "0", "1", "499", "new")
	if _, who, err := again.RedeemCode(ctx, code); err != nil || who != ada {
		t.Errorf("the sign-in is gone: %v, %v", who, err)
	}
}

func TestBackupAndExportOfAKilledOwnersDatabase(t *testing.T) {
	path := databasePath(t)
	c := startChild(t, "pairs", path)
	reached(t, c, 20)
	c.kill(t)
	before := snapshot(t, path)
	if len(before[1]) == 0 {
		t.Fatal("there is no log to read")
	}
	a, b := countPairs(t, backUp(t, path).Path)
	if a != b || a < 20 {
		t.Errorf("copied %d and %d of 20 pairs or more", a, b)
	}
	a, b = exportedPairs(t, path)
	if a != b || a < 20 {
		t.Errorf("exported %d and %d of 20 pairs or more", a, b)
	}
	assertUntouched(t, path, before)
}

// writePairsUntilKilled writes rows of two tables in each transaction, as fast as it can, and says how many pairs there are. It never waits for a lock.
func writePairsUntilKilled(ctx context.Context, path string) error {
	s, err := Open(ctx, path, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := s.db.writer.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil {
		return err
	}
	for n := 1; ; n++ {
		err := s.db.write(ctx, func(tx *sql.Tx) error {
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
}

// reached waits until the child has written so many pairs.
func reached(t testing.TB, c *child, pairs int) {
	t.Helper()
	for n := 0; n < pairs; {
		_, err := fmt.Sscanf(c.next(t), "wrote %d", &n)
		must(t, err)
	}
}

func countPairs(t testing.TB, path string) (a, b int) {
	t.Helper()
	db, err := openReader(path)
	must(t, err)
	defer db.Close()
	must(t, db.QueryRow("SELECT (SELECT count(*) FROM state), (SELECT count(*) FROM channel)").Scan(&a, &b))
	return a, b
}

func exportedPairs(t testing.TB, path string) (a, b int) {
	t.Helper()
	export := exported(t, path)
	return bytes.Count(export, []byte(`"kind":"state"`)), bytes.Count(export, []byte(`"kind":"channel"`))
}

func TestCopiesBesideAWriterAreOfOneMoment(t *testing.T) {
	path := databasePath(t)
	c := startChild(t, "pairs", path)
	for pairs := 10; pairs <= 200; pairs += 38 { // the child ends when it is refused, and with it the test
		reached(t, c, pairs)
		if a, b := countPairs(t, backUp(t, path).Path); a != b || a < pairs {
			t.Errorf("copied %d and %d of %d pairs or more", a, b, pairs)
		}
		if a, b := exportedPairs(t, path); a != b || a < pairs {
			t.Errorf("exported %d and %d of %d pairs or more", a, b, pairs)
		}
	}
	c.kill(t)
}

// copiers are what writes a file from a database.
var copiers = map[string]func(ctx context.Context, path, target string, opts *CopyOptions) (Copy, error){
	"backup": Backup, "export": ExportFile,
}

func TestCopiesRefuseABadDatabase(t *testing.T) {
	for name, step := range map[string]struct {
		harm  func(path string)
		parts []string
	}{
		"missing": {func(path string) { must(t, os.Remove(path)) }, []string{"doesn't exist", "chatguard run"}},
		"empty":   {func(path string) { must(t, os.Truncate(path, 0)) }, []string{"chatguard run"}},
		"a folder": {func(path string) {
			must(t, os.Remove(path))
			must(t, os.Mkdir(path, 0o700))
		}, []string{"is no file"}},
		"damaged":   {func(path string) { overwrite(t, path, 4096, 8192) }, []string{damagedAtStart}},
		"no SQLite": {func(path string) { overwrite(t, path, 0, 100) }, []string{damagedAtStart}},
		"of another program": {func(path string) {
			alter(t, path, "PRAGMA application_id = 7")
		}, []string{"another program"}},
		"newer": {func(path string) { alter(t, path, "PRAGMA user_version = 99") }, []string{"newer chatguard", "99"}},
	} {
		for kind, write := range copiers {
			t.Run(kind+"/"+name, func(t *testing.T) {
				path, folder := filled(t), t.TempDir()
				step.harm(path)
				_, err := write(ctx, path, filepath.Join(folder, "copy"), nil)
				wantError(t, err, append(step.parts, path)...)
				assertEmpty(t, folder)
			})
		}
	}
}

// alter changes a closed database by one statement.
func alter(t testing.TB, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	must(t, err)
	_, err = db.Exec(statement)
	must(t, errors.Join(err, db.Close()))
}

func assertEmpty(t *testing.T, folder string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	must(t, err)
	if len(entries) != 0 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestCopiesRefuseABadTarget(t *testing.T) {
	path := filled(t)
	named := path + partSuffix // a database may be called so
	must(t, os.Rename(path, named))
	folder := t.TempDir()
	link, hardLink, other := filepath.Join(folder, "link"), filepath.Join(folder, "hard"), filepath.Join(folder, "other")
	elsewhere, toOther, toNothing := filepath.Join(t.TempDir(), "elsewhere"), filepath.Join(folder, "to-other"), filepath.Join(folder, "to-nothing")
	must(t, errors.Join(os.Symlink(named, link), os.Link(named, hardLink), os.WriteFile(other, []byte("theirs"), 0o600),
		os.Symlink(other, toOther), os.Symlink(elsewhere, toNothing)))
	const isLink = " is a symbolic link to "
	before := snapshot(t, named)
	const over, ofDatabase = "would write over the database", "which belongs to the database: name another file"
	for name, step := range map[string]struct {
		target string
		force  bool
		parts  []string
	}{
		"the database":           {named, true, []string{over}},
		"the database, plainly":  {named, false, []string{over}},
		"a link to it":           {link, true, []string{over}},
		"a hard link to it":      {hardLink, true, []string{over}},
		"its log":                {named + "-wal", true, []string{ofDatabase}},
		"its lock":               {named + ".lock", true, []string{ofDatabase}},
		"its token":              {named + ".token", true, []string{ofDatabase}},
		"its token's lock":       {named + ".token.lock", true, []string{ofDatabase}},
		"a link to a file":       {toOther, true, []string{toOther + isLink + other, "name that file itself"}},
		"a link, plainly":        {toOther, false, []string{toOther + isLink + other, "name that file itself"}},
		"a link to nothing yet":  {toNothing, false, []string{toNothing + isLink + elsewhere, "name that file itself"}},
		"a part that would harm": {path, true, []string{over}},
		"a file":                 {other, false, []string{other + " exists already", "--force"}},
		"a folder":               {folder, true, []string{folder + " is no regular file"}},
		"a device":               {os.DevNull, true, []string{"is no regular file"}},
		"in no folder":           {filepath.Join(folder, "none", "copy"), true, []string{filepath.Join("none", "copy"), "its folder doesn't exist"}},
		"below a file":           {filepath.Join(other, "copy"), true, []string{filepath.Join("other", "copy"), "can't be written"}},
	} {
		for kind, write := range copiers {
			t.Run(kind+"/"+name, func(t *testing.T) {
				_, err := write(ctx, named, step.target, &CopyOptions{Force: step.force})
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

// TestCopies_LinkedDatabase: the token lies beside the name that the configuration has, and that is spared too.
func TestCopies_LinkedDatabase(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link.db")
	must(t, os.Symlink(filled(t), link))
	must(t, os.WriteFile(link+".token", []byte("theirs"), 0o600))
	for kind, write := range copiers {
		_, err := write(ctx, link, link+".token", &CopyOptions{Force: true})
		if err == nil || !strings.Contains(err.Error(), "which belongs to the database") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// TestDraft_LinkComesMeanwhile: a link that takes the target's or the part's name while a copy is made isn't written through.
func TestDraft_LinkComesMeanwhile(t *testing.T) {
	path := filled(t)
	folder := t.TempDir()
	target, other := filepath.Join(folder, "copy"), filepath.Join(folder, "other")
	must(t, os.WriteFile(other, []byte("theirs"), 0o600))
	for name, at := range map[string]string{"target": target, "part": target + partSuffix} {
		d, err := newDraft(target, true, path)
		must(t, err)
		os.Remove(at) // the target isn't there yet
		must(t, os.Symlink(other, at))
		if _, err := d.publish(); err == nil {
			t.Errorf("%s: published", name)
		}
		d.discard()
		if theirs, err := os.ReadFile(other); err != nil || string(theirs) != "theirs" {
			t.Errorf("%s: the other file holds %q, %v", name, theirs, err)
		}
		must(t, os.Remove(at))
	}
}

func TestCopiesReplaceWhatTheyMay(t *testing.T) {
	path := filled(t)
	for kind, write := range copiers {
		folder := t.TempDir()
		target, link := filepath.Join(folder, "copy"), filepath.Join(t.TempDir(), "link")
		must(t, errors.Join(os.WriteFile(target, []byte("old"), 0o644), os.WriteFile(target+partSuffix, []byte("half"), 0o644),
			os.WriteFile(target+partSuffix+"-journal", []byte("half"), 0o644), os.Symlink(folder, link)))
		made, err := write(ctx, path, filepath.Join(link, "copy"), &CopyOptions{Force: true})
		must(t, err)
		if made.Path != target {
			t.Errorf("%s: wrote %s, want it in the folder that the link means: %s", kind, made.Path, target)
		}
		assertAlone(t, target)
	}
}

func TestCopiesSpareTheirNeighbours(t *testing.T) {
	path := filled(t)
	for kind, write := range copiers {
		target := filepath.Join(t.TempDir(), "copy")
		neighbours := []string{target + ".part", target + ".part-journal", target + ".tmp", target + "~"} // a download's, an editor's
		for _, name := range neighbours {
			must(t, os.WriteFile(name, []byte("theirs"), 0o644))
		}
		_, err := write(ctx, path, target, &CopyOptions{Force: true})
		must(t, err)
		for _, name := range neighbours {
			if theirs, err := os.ReadFile(name); err != nil || string(theirs) != "theirs" {
				t.Errorf("%s: %s holds %q, %v", kind, name, theirs, err)
			}
		}
	}
}

func TestTwoCopiesToOneFile(t *testing.T) {
	path, target := filled(t), filepath.Join(t.TempDir(), "copy")
	// While the first copies, a second one begins and ends.
	first := &CopyOptions{Force: true}
	first.Now = func() time.Time {
		_, err := Backup(ctx, path, target, &CopyOptions{Force: true, Now: at(start)})
		must(t, err)
		return start
	}
	_, err := Backup(ctx, path, target, first)
	wantError(t, err, target, "another process")
	if got, want := dump(t, target), dump(t, path); got != want {
		t.Error("the second copy isn't whole")
	}
	_, err = Backup(ctx, path, target, &CopyOptions{Force: true})
	must(t, err)
	assertAlone(t, target)
}

func TestStoppedBackup(t *testing.T) {
	path, folder := filled(t), t.TempDir()
	stopped, stop := context.WithCancel(ctx)
	now := func() time.Time { stop(); return start } // asked right before copying
	if _, err := Backup(stopped, path, filepath.Join(folder, "copy"), &CopyOptions{Now: now}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	assertEmpty(t, folder)
}

func BenchmarkBackup(b *testing.B) {
	path := databasePath(b)
	fillLines(b, path, manyLines(b, benchRows))
	for b.Loop() {
		backUp(b, path)
	}
	b.ReportMetric(benchRows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
