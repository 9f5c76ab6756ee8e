package persist

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/persist/sqlite"
)

func ownUntilKilled(ctx context.Context, path string) error {
	s, err := Open(ctx, path, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Println("owned")
	_, err = io.Copy(io.Discard, os.Stdin) // until the test ends, or kills this process
	return err
}

func TestOpen_OneOwner(t *testing.T) {
	t.Parallel()
	path := databasePath(t)
	must(t, sqlite.CheckOwner(path)) // the database never had an owner
	first := startChild(t, "own", path)
	first.Next(t)

	_, err := Open(ctx, path, nil)
	var owned *sqlite.OwnedError
	for _, err := range []error{err, sqlite.CheckOwner(path)} {
		if !errors.As(err, &owned) || owned.PID != first.Process.Pid {
			t.Fatalf("got %v, want an OwnedError of process %d", err, first.Process.Pid)
		}
	}
	wantError(t, err, path, fmt.Sprint("process ", first.Process.Pid))

	first.Kill(t)
	must(t, sqlite.CheckOwner(path))
	s := open(t, path, nil)
	_, err = Open(ctx, path, nil) // the PID in the lock file is this process's, as in another container
	wantError(t, err, path, "in use by another container, or twice in this process")
	must(t, s.Close())
	must(t, open(t, path, nil).Close())
}

// CheckMode names every file of a database that others can read or change.
func TestCheckMode(t *testing.T) {
	t.Parallel()
	if err := sqlite.CheckMode(filepath.Join(t.TempDir(), "none.db")); err != nil {
		t.Errorf("where there is none: %v", err)
	}
	path := databasePath(t)
	s := open(t, path, nil)
	defer s.Close()
	if err := sqlite.CheckMode(path); err != nil {
		t.Errorf("a new one: %v", err)
	}
	for _, test := range []struct {
		database, log, shared os.FileMode
		want                  string
	}{
		{0o604, 0o600, 0o600, "database %[1]s can be read by other users of this machine: chmod 600 %[1]s"},
		{0o640, 0o600, 0o660, "database %[1]s can be read and changed by other users of this machine: chmod 600 %[1]s %[1]s-shm"},
		{0o600, 0o622, 0o600, "database %[1]s can be read and changed by other users of this machine: chmod 600 %[1]s-wal"},
		{0o666, 0o666, 0o666, "database %[1]s can be read and changed by other users of this machine: chmod 600 %[1]s %[1]s-wal %[1]s-shm"},
	} {
		must(t, errors.Join(os.Chmod(path, test.database), os.Chmod(path+"-wal", test.log), os.Chmod(path+"-shm", test.shared)))
		if err, want := sqlite.CheckMode(path), fmt.Sprintf(test.want, path); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	link := filepath.Join(t.TempDir(), "link.db")
	must(t, os.Symlink(path, link))
	wantError(t, sqlite.CheckMode(link), path+"-wal")
}

// A database that others can read is reported, but opened.
func TestOpen_ReadableByOthers(t *testing.T) {
	t.Parallel()
	path := newFilledDatabase(t)
	must(t, os.Chmod(path, 0o644))
	var log strings.Builder
	s := open(t, path, &Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	must(t, s.Close())
	if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "chmod 600 "+path) {
		t.Errorf("the log says %q", log.String())
	}
}

func TestOpen_DanglingLink(t *testing.T) {
	t.Parallel()
	path := databasePath(t)
	link := filepath.Join(t.TempDir(), "link.db")
	must(t, os.Symlink(path, link))
	s := open(t, link, nil)
	defer s.Close()
	var owned *sqlite.OwnedError
	for _, name := range []string{path, link} {
		if _, err := Open(ctx, name, nil); !errors.As(err, &owned) {
			t.Errorf("%s: %v, want an OwnedError", name, err)
		}
	}
}

func TestOpen_StrangeFileNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a b.db", "what?.db", "50%25.db", "#1.db", "ümläut&x=1.db"} {
		path := filepath.Join(t.TempDir(), name)
		must(t, open(t, path, nil).Close())
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

func TestOpen_UnwritablePath(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, []byte("text"), 0o600))
	for name, path := range map[string]string{
		"below a file":      filepath.Join(file, "chatguard.db"),
		"missing directory": filepath.Join(t.TempDir(), "missing", "chatguard.db"),
		"directory":         t.TempDir(),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(ctx, path, nil)
			wantError(t, err, "database "+path, "set another database")
			_, err = OpenTokens(ctx, path, nil)
			wantError(t, err, "database "+path)
		})
	}
}

// assertRefused fails unless opening the database fails and leaves it unchanged.
func assertRefused(t *testing.T, path string, parts ...string) {
	t.Helper()
	before := snapshot(t, path)
	_, err := Open(ctx, path, nil)
	wantError(t, err, append(parts, path)...)
	for i, after := range snapshot(t, path) {
		if !bytes.Equal(before[i], after) {
			t.Error("the refused database has changed")
		}
	}
}

// newFilledDatabase returns the path of a closed database with contents in every page that matters.
func newFilledDatabase(t *testing.T) string {
	t.Helper()
	return filledDatabase.Copy(t, func(path string) { fill(t, path) })
}

func fill(t *testing.T, path string) {
	s := open(t, path, nil)
	g := guardOf(t, s, policy())
	for user := range 500 {
		for range 4 {
			say(t, g, fmt.Sprint(user), start)
		}
	}
	s.mustFlush(t, g)
	must(t, s.Close())
}

// A database that is damaged, newer, or another program's is refused and stays as it is.
func TestOpen_Refused(t *testing.T) {
	t.Parallel()
	type parts = []string
	for name, test := range map[string]struct {
		harm func(t *testing.T, path string)
		want parts
	}{
		"damaged header": {func(t *testing.T, path string) { overwrite(t, path, 0, 100) }, parts{"damaged", "backup"}},
		"damaged page":   {func(t *testing.T, path string) { overwrite(t, path, 12*4096, 4096) }, parts{"damaged", "backup"}},
		"text": {func(t *testing.T, path string) {
			must(t, os.WriteFile(path, []byte("this is no database, and never was one"), 0o600))
		}, parts{"damaged", "backup"}},
		"half": {func(t *testing.T, path string) {
			info, err := os.Stat(path)
			must(t, err)
			must(t, os.Truncate(path, info.Size()/2))
		}, parts{"damaged", "backup"}},
		"newer":             {func(t *testing.T, path string) { alter(t, path, "PRAGMA user_version = 99") }, parts{"newer chatguard", "version 99"}},
		"another program's": {func(t *testing.T, path string) { alter(t, path, "PRAGMA application_id = 7") }, parts{"another program"}},
		"another program's without a name": {func(t *testing.T, path string) {
			alter(t, path, "PRAGMA application_id = 0; PRAGMA user_version = 0")
		}, parts{"another program"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := newFilledDatabase(t)
			test.harm(t, path)
			assertRefused(t, path, test.want...)
			_, err := Schema.Check(ctx, path)
			wantError(t, err, append(test.want, path)...)
			if test.want[0] != "damaged" { // which a token's reader notices when it reads
				_, err := OpenTokens(ctx, path, nil)
				wantError(t, err, append(test.want, path)...)
			}
		})
	}
}

// Only Open creates a database, also from an empty file.
func TestOpen_Creates(t *testing.T) {
	t.Parallel()
	path := databasePath(t)
	_, err := OpenTokens(ctx, path, nil)
	wantError(t, err, path, "doesn't exist", "chatguard run")
	_, err = Schema.Check(ctx, path)
	wantError(t, err, path, "doesn't exist")
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a database was made: %v", err)
	}
	must(t, os.WriteFile(path, nil, 0o600))
	open(t, path, nil)
}

// A killed process leaves a log, whose contents must not be merged into a damaged database.
func TestOpen_DamagedKeepsLog(t *testing.T) {
	t.Parallel()
	path := newFilledDatabase(t)
	s := open(t, path, nil)
	g := guardOf(t, s, policy())
	say(t, g, "new", start)
	s.mustFlush(t, g)
	killed := databasePath(t)
	for i, data := range snapshot(t, path) {
		must(t, os.WriteFile(killed+[]string{"", "-wal"}[i], data, 0o600))
	}
	must(t, s.Close())

	overwrite(t, killed, 12*4096, 4096)
	assertRefused(t, killed, "damaged", "if that is a backup, delete the files -wal and -shm beside it")
}
