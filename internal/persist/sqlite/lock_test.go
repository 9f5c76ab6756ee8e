package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Nothing follows a link in place of the lock file or writes through it.
func TestLockFile_Link(t *testing.T) {
	t.Parallel()
	path := databasePath(t)
	other, nothing := filepath.Join(t.TempDir(), "other"), filepath.Join(t.TempDir(), "nothing")
	must(t, os.WriteFile(other, []byte("theirs, and longer than a PID is"), 0o600))
	for _, meant := range []string{other, nothing} {
		must(t, os.Symlink(meant, path+".lock"))
		_, err := schema.Open(ctx, path)
		wantError(t, err, path+".lock is a symbolic link to "+meant, "remove the link")
		err = schema.Own(ctx, path, func(*Owned) error { return errors.New("it is owned") })
		wantError(t, err, path+".lock is a symbolic link to "+meant, "remove the link")
		if err := CheckOwner(path); err != nil {
			t.Errorf("CheckOwner: %v", err)
		}
		if _, err := flockFile(path + ".lock").TryLock(); err == nil {
			// as if the link had appeared after the check
			t.Error("the link is followed")
		}
		must(t, os.Remove(path+".lock"))
	}
	if theirs, err := os.ReadFile(other); err != nil || string(theirs) != "theirs, and longer than a PID is" {
		t.Errorf("the other file holds %q, %v", theirs, err)
	}
	if _, err := os.Lstat(nothing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something is where the link leads: %v", err)
	}
}
