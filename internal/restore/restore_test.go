package restore

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/persist/persisttest"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/persist/transfer"
)

func TestRun(t *testing.T) {
	t.Parallel()
	in := newInstallation(t)
	outcome, err := Run(ctx, in.backup, in.options())
	persisttest.Must(t, err)
	in.wantNew(t)
	if outcome.Login != Restored || outcome.TextKey != Restored || outcome.Configuration != Restored || !outcome.At.Equal(persisttest.Start) || len(outcome.Kept) != 4 {
		t.Errorf("%+v", outcome)
	}
	for i, name := range in.names() {
		info, err := os.Stat(name)
		persisttest.Must(t, err)
		if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("file %d has mode %v", i, info.Mode())
		}
	}
}

// A second restore changes only the database, and keeps what the first one kept.
func TestRun_Twice(t *testing.T) {
	t.Parallel()
	in := newInstallation(t)
	_, err := Run(ctx, in.backup, in.options())
	persisttest.Must(t, err)
	outcome, err := Run(ctx, in.backup, in.options())
	persisttest.Must(t, err)
	if outcome.Login != Same || outcome.TextKey != Same || outcome.Configuration != Same || !slices.Equal(outcome.Kept, []string{in.places().Database + ".before-restore.2"}) {
		t.Errorf("%+v", outcome)
	}
	if !bytes.Equal(read(t, in.places().Database+".before-restore"), in.old[databasePart]) {
		t.Error("the second restore replaced what the first one kept")
	}
}

func TestRun_EmptyFolder(t *testing.T) {
	t.Parallel()
	in := newInstallation(t)
	in.folder = t.TempDir()
	outcome, err := Run(ctx, in.backup, in.options())
	persisttest.Must(t, err)
	if len(outcome.Kept) != 0 {
		t.Errorf("%+v", outcome)
	}
	in.wantFiles(t, map[string][]byte{"chatguard.toml": in.now[configurationPart], "chatguard.db": in.now[databasePart], "chatguard.db.token": in.now[loginPart], "chatguard.db.textkey": in.now[textKeyPart]})
	if info, err := os.Stat(in.places().Configuration); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("the configuration has %v, %v", info.Mode(), err)
	}
}

func TestRun_PlainBackup(t *testing.T) {
	t.Parallel()
	in := newInstallation(t)
	in.write(t, in.now[databasePart])
	outcome, err := Run(ctx, in.backup, in.options())
	persisttest.Must(t, err)
	if outcome.Login != Absent || outcome.TextKey != Absent || outcome.Configuration != Absent {
		t.Errorf("%+v", outcome)
	}
	in.wantFiles(t, map[string][]byte{
		"chatguard.toml": in.old[configurationPart], "chatguard.db": in.now[databasePart], "chatguard.db.token": in.old[loginPart], "chatguard.db.textkey": in.old[textKeyPart],
		"chatguard.db.before-restore": in.old[databasePart],
	})
}

func TestRun_OnlyDatabase(t *testing.T) {
	t.Parallel()
	in := newInstallation(t)
	opts := in.options()
	opts.OnlyDatabase = true
	_, err := Run(ctx, in.backup, opts)
	persisttest.Must(t, err)
	in.wantFiles(t, map[string][]byte{
		"chatguard.toml": in.old[configurationPart], "chatguard.db": in.now[databasePart], "chatguard.db.token": in.old[loginPart], "chatguard.db.textkey": in.old[textKeyPart],
		"chatguard.db.before-restore": in.old[databasePart],
	})
}

// Twitch renews a login and no longer accepts its earlier tokens. So the newer file of an account
// stays.
func TestRun_Login(t *testing.T) {
	t.Parallel()
	later := loginTimes.backup.Add(time.Minute)
	for name, c := range map[string]struct {
		there []byte
		at    time.Time
		want  Result
	}{
		"older":           {login("old", "7"), loginTimes.there, Restored},
		"newer":           {login("old", "7"), later, Newer},
		"another account": {login("old", "8"), later, Restored},
		"unreadable":      {[]byte("{"), later, Restored},
		"the same":        {login("new", "7"), later, Same},
	} {
		t.Run(name, func(t *testing.T) {
			in := newInstallation(t)
			path := in.places().Login
			persisttest.Must(t, os.WriteFile(path, c.there, 0o600))
			persisttest.Must(t, os.Chtimes(path, c.at, c.at))
			outcome, err := Run(ctx, in.backup, in.options())
			persisttest.Must(t, err)
			want := c.there
			if c.want == Restored {
				want = in.now[loginPart]
			}
			if outcome.Login != c.want || !bytes.Equal(read(t, path), want) {
				t.Errorf("result %v, the login is %s", outcome.Login, read(t, path))
			}
		})
	}
}

// TestRun_WithoutTextKey restores the backup of an earlier version, which has no key of texts.
func TestRun_WithoutTextKey(t *testing.T) {
	t.Parallel()
	in := newInstallation(t)
	in.write(t, seal(t, slices.DeleteFunc(in.parts(), func(p part) bool { return p.name == transfer.TextKeyName })...))
	outcome, err := Run(ctx, in.backup, in.options())
	persisttest.Must(t, err)
	if outcome.TextKey != Absent || outcome.Login != Restored || !bytes.Equal(read(t, in.places().TextKey), in.old[textKeyPart]) {
		t.Errorf("%+v, and the key is %q", outcome, read(t, in.places().TextKey))
	}
}

// A log without its database would damage the new one.
func TestRun_Logs(t *testing.T) {
	t.Parallel()
	in := newInstallation(t)
	damaged := []byte("not a database")
	persisttest.Must(t, os.WriteFile(in.places().Database, damaged, 0o600))
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		persisttest.Must(t, os.WriteFile(in.places().Database+suffix, []byte(suffix), 0o600))
	}
	_, err := Run(ctx, in.backup, in.options())
	persisttest.Must(t, err)
	if !bytes.Equal(read(t, in.places().Database), in.now[databasePart]) || !bytes.Equal(read(t, in.places().Database+".before-restore"), damaged) {
		t.Error("the database isn't the backup's, or the old one isn't kept")
	}
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if _, err := os.Stat(in.places().Database + suffix); err == nil {
			t.Errorf("%s is left", suffix)
		}
	}
}

func TestRun_Refused(t *testing.T) {
	t.Parallel()
	whole := newInstallation(t)
	sealed := read(t, whole.backup)
	other := persisttest.DatabasePath(t)
	newDatabase(t, other, "other")
	persisttest.Alter(t, other, "PRAGMA user_version = 99")
	newer := read(t, other)
	persisttest.Alter(t, other, "PRAGMA application_id = 1; PRAGMA user_version = 1")
	foreign := read(t, other)
	damaged := slices.Clone(whole.now[databasePart])
	copy(damaged[4096:], bytes.Repeat([]byte{0xff}, 4096))
	config := part{name: transfer.ConfigurationName, contents: []byte("# new")}
	for name, c := range map[string]struct {
		backup []byte
		want   string
	}{
		"empty":                     {nil, "is not a backup: name a file that `chatguard backup` wrote"},
		"text":                      {[]byte("hello"), "is not a backup"},
		"an export":                 {[]byte(`{"kind":"chatguard-export",`), "is an export: restore it with `chatguard import`"},
		"a compressed export":       {[]byte{0x1f, 0x8b, 8}, "is an export"},
		"cut off in the header":     {sealed[:60], "is incomplete or damaged: copy it again, or use another backup"},
		"cut off":                   {sealed[:len(sealed)-1], "is incomplete or damaged"},
		"cut off at a chunk":        {sealed[:len(sealed)-len(sealed)%65552], "is incomplete or damaged"},
		"a byte changed":            {flip(sealed, len(sealed)/2), "is incomplete or damaged"},
		"the last byte changed":     {flip(sealed, len(sealed)-1), "is incomplete or damaged"},
		"a byte more":               {append(slices.Clone(sealed), 0), "is incomplete or damaged"},
		"a database cut off":        {whole.now[databasePart][:8192], "is damaged: use another backup"},
		"a damaged database":        {damaged, "is damaged: use another backup"},
		"a newer database":          {newer, "was written by a newer chatguard (version 99, "},
		"another program's":         {foreign, "belongs to another program"},
		"archived: damaged":         {seal(t, config, part{name: transfer.DatabaseName, contents: damaged}), "is damaged: use another backup"},
		"archived: newer":           {seal(t, config, part{name: transfer.DatabaseName, contents: newer}), "update chatguard"},
		"archived: empty":           {seal(t, config, part{name: transfer.DatabaseName}), "is empty"},
		"archived: no database":     {seal(t, config), "contains no database"},
		"archived: unknown":         {seal(t, part{name: "../../evil"}), `contains "../../evil", which this chatguard doesn't know: update chatguard`},
		"archived: a link":          {seal(t, part{name: transfer.LoginName, link: "/etc/passwd"}), `contains "chatguard.db.token", which isn't a regular file`},
		"archived: large login":     {seal(t, part{name: transfer.LoginName, contents: make([]byte, maxSmallFile+1)}), "contains a chatguard.db.token of more than 4 MiB: restore without it with --only-database"},
		"archived: unknown at last": {seal(t, part{name: transfer.DatabaseName, contents: whole.now[databasePart]}, config), `contains "chatguard.toml", which`},
	} {
		t.Run(name, func(t *testing.T) {
			in := newInstallation(t)
			in.write(t, c.backup)
			in.wantRefused(t, in.options(), in.backup, c.want)
		})
	}
}

func flip(data []byte, at int) []byte {
	data = slices.Clone(data)
	data[at] ^= 1
	return data
}

func TestRun_RefusedOptions(t *testing.T) {
	t.Parallel()
	in := newInstallation(t)
	opts := in.options()
	opts.Passphrase = func() (string, error) { return "wrong", nil }
	in.wantRefused(t, opts, "the passphrase doesn't fit "+in.backup+": enter the one that it was made with")
	asked := errors.New("nobody answers")
	opts.Passphrase = func() (string, error) { return "", asked }
	in.wantRefused(t, opts, asked.Error())
	opts = in.options()
	opts.Places = func([]byte) (transfer.Installation, error) { return transfer.Installation{}, errors.New("no such key") }
	in.wantRefused(t, opts, "the configuration in "+in.backup+" can't be used here: no such key; restore without it with --only-database")

	held, err := sqlite.Hold(in.places().Database)
	persisttest.Must(t, err)
	in.wantRefused(t, in.options(), "is in use by ", ": stop that first")
	persisttest.Must(t, held.Release())

	ended, stop := context.WithCancel(ctx)
	stop()
	if _, err := Run(ended, in.backup, in.options()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	in.wantOld(t)

	for _, suffix := range logSuffixes {
		persisttest.Must(t, os.WriteFile(in.backup+suffix, []byte("log"), 0o600))
		in.wantRefused(t, in.options(), "isn't complete without the log beside it, "+in.backup+suffix)
		persisttest.Must(t, os.Remove(in.backup+suffix))
	}
	in.backup = in.folder
	in.wantRefused(t, in.options(), "is not a file")
	in.backup = filepath.Join(in.folder, "none")
	in.wantRefused(t, in.options(), "doesn't exist")
}

// TestRun_Undone lets the last step fail, because a folder is in the login's place.
func TestRun_Undone(t *testing.T) {
	t.Parallel()
	in := newInstallation(t)
	path := in.places().Login
	persisttest.Must(t, os.Remove(path))
	persisttest.Must(t, os.MkdirAll(filepath.Join(path, "sub"), 0o700))
	_, err := Run(ctx, in.backup, in.options())
	persisttest.WantError(t, err, path+" can't be replaced (", ": nothing was restored; ")
	persisttest.Must(t, os.RemoveAll(path))
	in.wantFiles(t, map[string][]byte{"chatguard.toml": in.old[configurationPart], "chatguard.db": in.old[databasePart], "chatguard.db.textkey": in.old[textKeyPart]})
}

// A link to a file stays a link.
func TestRun_Links(t *testing.T) {
	t.Parallel()
	in := newInstallation(t)
	elsewhere := t.TempDir()
	for _, name := range in.names() {
		real := filepath.Join(elsewhere, filepath.Base(name))
		persisttest.Must(t, os.Rename(name, real))
		persisttest.Must(t, os.Symlink(real, name))
	}
	_, err := Run(ctx, in.backup, in.options())
	persisttest.Must(t, err)
	for i, name := range in.names() {
		if info, err := os.Lstat(name); err != nil || info.Mode().IsRegular() || !bytes.Equal(read(t, name), in.now[i]) {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	in.folder = elsewhere
	in.wantNew(t)
}
