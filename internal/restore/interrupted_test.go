package restore

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/persist/persisttest"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
)

// TestFinish_AnotherConfiguration checks that a command with another configuration of the same
// database moves nothing, and that one with the restore's configuration moves everything.
func TestFinish_AnotherConfiguration(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"marked", "placed configuration", "moved"} {
		in := newInstallation(t)
		in.killAt(t, strings.Replace(step, "configuration", in.places().Configuration, 1))
		names, err := os.ReadDir(in.folder)
		persisttest.Must(t, err)
		before := map[string][]byte{}
		for _, name := range names {
			if name.Name() == "chatguard.db.lock" {
				continue // it names the last owner
			}
			before[name.Name()] = read(t, filepath.Join(in.folder, name.Name()))
		}
		places := in.places()
		places.Configuration = filepath.Join(t.TempDir(), "other.toml")
		finished, err := Finish(places)
		if !finished {
			t.Errorf("%s: the restore isn't noticed", step)
		}
		persisttest.WantError(t, err, "an interrupted restore replaces "+in.places().Configuration+", but here that file is "+places.Configuration+": use the --config of that restore")
		in.wantFiles(t, before)
		if finished, err := Finish(in.places()); !finished || err != nil {
			t.Errorf("%s: finished %v, %v", step, finished, err)
		}
		in.wantNew(t)
	}
}

// TestFinish_Missing checks that nothing is moved if a new file is missing, and that the marker
// stays until the file is back.
func TestFinish_Missing(t *testing.T) {
	t.Parallel()
	for part := range parts {
		in := newInstallation(t)
		in.killAt(t, "marked")
		staged := in.names()[part] + sqlite.PartSuffix
		away := filepath.Join(t.TempDir(), "away")
		persisttest.Must(t, os.Rename(staged, away))
		for range 2 {
			finished, err := Finish(in.places())
			if !finished {
				t.Error("the restore isn't noticed")
			}
			persisttest.WantError(t, err, staged+", which an interrupted restore wrote, is missing: put it back, or delete "+in.places().Database+sqlite.RestoringSuffix+" and restore again")
		}
		for i, name := range in.names() {
			if !bytes.Equal(read(t, name), in.old[i]) {
				t.Errorf("%s has changed", name)
			}
		}
		persisttest.Must(t, os.Rename(away, staged))
		finished, err := Finish(in.places())
		persisttest.Must(t, err)
		if !finished {
			t.Error("the restore isn't finished")
		}
		in.wantNew(t)
	}
}

// A second putBack must not remove what the first one put back.
func TestFile_PutBackTwice(t *testing.T) {
	t.Parallel()
	in := newInstallation(t)
	m := newMove(in.places())
	f := m.files[databasePart]
	persisttest.Must(t, f.write(bytes.NewReader(in.now[databasePart]), 0o600))
	f.kept = f.target + keptSuffix
	persisttest.Must(t, f.place())
	for range 2 {
		persisttest.Must(t, f.putBack())
		in.wantOld(t)
	}
}

// TestFinish_Damaged checks that a marker decides nothing but how files are called.
func TestFinish_Damaged(t *testing.T) {
	t.Parallel()
	for _, marker := range []string{"", "{", `{"kept_suffix":"/../x","files":[{"part":1}]}`, `{"kept_suffix":"","files":[{"part":1}]}`, `{"kept_suffix":".old","files":[{"part":7}]}`, `{"kept_suffix":".old","files":[{"part":-1}]}`, `{"kept_suffix":".old"}`} {
		in := newInstallation(t)
		name := in.places().Database + sqlite.RestoringSuffix
		persisttest.Must(t, os.WriteFile(name, []byte(marker), 0o600))
		finished, err := Finish(in.places())
		if !finished {
			t.Errorf("%q isn't noticed", marker)
		}
		persisttest.WantError(t, err, name+", which an interrupted restore left, can't be read (")
		persisttest.Must(t, os.Remove(name))
		in.wantOld(t)
	}
}

// A log that couldn't be emptied moves together with its database.
func TestMove_Logs(t *testing.T) {
	t.Parallel()
	in := newInstallation(t)
	path := in.places().Database
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		persisttest.Must(t, os.WriteFile(path+suffix, []byte(suffix), 0o600))
	}
	m := newMove(in.places())
	persisttest.Must(t, m.files[databasePart].write(bytes.NewReader(in.now[databasePart]), 0o600))
	persisttest.Must(t, m.commit())
	in.wantFiles(t, map[string][]byte{
		"chatguard.toml": in.old[configurationPart], "chatguard.db.token": in.old[loginPart], "chatguard.db.textkey": in.old[textKeyPart],
		"chatguard.db": in.now[databasePart], "chatguard.db.before-restore": in.old[databasePart],
		"chatguard.db.before-restore-wal": []byte("-wal"), "chatguard.db.before-restore-journal": []byte("-journal"),
	})
}

// A restore completes an earlier one that was interrupted, before it begins.
func TestRun_AfterInterrupted(t *testing.T) {
	t.Parallel()
	in := newInstallation(t)
	path := in.places().Database
	between := newDatabase(t, filepath.Join(t.TempDir(), "db"), "between")
	persisttest.Must(t, os.WriteFile(path+sqlite.PartSuffix, between, 0o600))
	in.mark(t, databasePart)
	opts := in.options()
	opts.OnlyDatabase = true
	_, err := Run(ctx, in.backup, opts)
	persisttest.Must(t, err)
	in.wantFiles(t, map[string][]byte{
		"chatguard.toml": in.old[configurationPart], "chatguard.db.token": in.old[loginPart], "chatguard.db.textkey": in.old[textKeyPart],
		"chatguard.db": in.now[databasePart], "chatguard.db.before-restore": in.old[databasePart], "chatguard.db.before-restore.2": between,
	})
}

// steps are the steps of a restore of an installation at which a test kills it.
func steps(in *installation) (before, after []string) {
	after = []string{"marked"}
	for _, name := range in.names() {
		after = append(after, "logs of "+name, "kept "+name, "placed "+name)
	}
	return []string{"staged"}, append(after, "moved")
}

// restoreUntilKilled restores into the folder of path. It prints each step, and waits for a line
// after it.
func restoreUntilKilled(ctx context.Context, path string) error {
	in := &installation{folder: filepath.Dir(path), backup: os.Getenv(backupVariable)}
	reached = func(step string) {
		os.Stdout.WriteString(step + "\n")
		os.Stdin.Read(make([]byte, 1))
	}
	_, err := Run(ctx, in.backup, in.options())
	return err
}

// killAt restores in a process, and kills it at a step.
func (in *installation) killAt(t *testing.T, step string) {
	t.Helper()
	c := persisttest.StartChild(t, "restore", in.places().Database, backupVariable+"="+in.backup)
	for at := c.Next(t); at != step; {
		at = c.Tell(t, "")
	}
	c.Kill(t)
}

// TestRun_Killed kills a restore at each of its steps. Then everything is as before, or the next
// command restores everything.
func TestRun_Killed(t *testing.T) {
	t.Parallel()
	before, after := steps(&installation{})
	for i := range append(before, after...) {
		t.Run(append(before, after...)[i], func(t *testing.T) {
			t.Parallel()
			in := newInstallation(t)
			before, after := steps(in)
			step := append(before, after...)[i]
			in.killAt(t, step)
			if i > 0 { // a program that doesn't know of restores must not open half of one
				_, err := persist.Open(ctx, in.places().Database, nil)
				persisttest.WantError(t, err, "a restore was interrupted: repeat it with `chatguard restore`")
			}
			finished, err := Finish(in.places())
			persisttest.Must(t, err)
			if finished != (i > 0) {
				t.Errorf("finished: %v", finished)
			}
			if finished {
				in.wantNew(t)
				return
			}
			in.wantOld(t) // nothing is left of the killed one
		})
	}
}

// TestFinish_Abandoned checks that a command removes what killed processes have left, unless one
// that still runs may be writing it, and nothing else.
func TestFinish_Abandoned(t *testing.T) {
	t.Parallel()
	in := newInstallation(t)
	left := []string{"chatguard.toml", "chatguard.db", "chatguard.db.token", "chatguard.db.v10", "chatguard.db.before-import.2", "chatguard.db.rescued"}
	others := []string{"chatguard.db.copying", "chatguard.db.mine", "other.db"}
	for _, name := range append(left, others...) {
		persisttest.Must(t, os.WriteFile(filepath.Join(in.folder, name+sqlite.PartSuffix), nil, 0o600))
	}
	persisttest.Must(t, os.WriteFile(filepath.Join(in.folder, "chatguard.db.v10"+sqlite.PartSuffix+"-journal"), nil, 0o600))
	held, err := sqlite.Hold(in.places().Database)
	persisttest.Must(t, err)
	count := func() int { return len(Abandoned(in.places())) }
	before := count()
	if _, err := Finish(in.places()); err != nil || count() != before {
		t.Errorf("while the database is owned, %d of %d are left: %v", count(), before, err)
	}
	persisttest.Must(t, held.Release())
	if finished, err := Finish(in.places()); finished || err != nil {
		t.Errorf("finished %v, %v", finished, err)
	}
	want := map[string][]byte{"chatguard.toml": in.old[configurationPart], "chatguard.db": in.old[databasePart], "chatguard.db.token": in.old[loginPart], "chatguard.db.textkey": in.old[textKeyPart]}
	for _, name := range others {
		want[name+sqlite.PartSuffix] = nil
	}
	in.wantFiles(t, want)
}
