//go:build unix

package restore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/chatguard/chatguard/internal/persist/persisttest"
)

// restoreToFullDisk runs in a process that can't write more than 64 KiB to a file, and prints the
// error.
func restoreToFullDisk(ctx context.Context, path string) error {
	few := syscall.Rlimit{Cur: 1 << 16, Max: 1 << 16}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &few); err != nil {
		return err
	}
	in := &installation{folder: filepath.Dir(path), backup: os.Getenv(backupVariable)}
	_, err := Run(ctx, in.backup, in.options())
	fmt.Println(err)
	return nil
}

func TestRun_FullDisk(t *testing.T) {
	t.Parallel()
	in := newInstallation(t)
	c := persisttest.StartChild(t, "full", in.places().Database, backupVariable+"="+in.backup)
	want := in.places().Database + " can't be written (file too large): make its folder writable for this user, or name another file"
	if line := c.Next(t); line != want {
		t.Errorf("the restore says %q, want %q", line, want)
	}
	persisttest.Must(t, c.Wait())
	in.wantOld(t)
}

// TestRun_Root checks that what root restores belongs to the owner of what was there, or of the
// folder. Other users can't give files away.
func TestRun_Root(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		return
	}
	const nobody, other = 65534, 65533
	in := newInstallation(t)
	persisttest.Must(t, os.Remove(in.places().Database))
	persisttest.Must(t, os.Chown(in.folder, nobody, nobody))
	persisttest.Must(t, os.Chown(in.places().Configuration, other, other))
	persisttest.Must(t, os.Chmod(in.places().Configuration, 0o644))
	_, err := Run(ctx, in.backup, in.options())
	persisttest.Must(t, err)
	for name, want := range map[string]struct {
		owner uint32
		mode  os.FileMode
	}{
		in.places().Database: {nobody, 0o600}, in.places().Database + ".lock": {nobody, 0o600},
		in.places().Login: {0, 0o600}, in.places().Configuration: {other, 0o644},
	} {
		info, err := os.Stat(name)
		persisttest.Must(t, err)
		if owner := info.Sys().(*syscall.Stat_t).Uid; owner != want.owner || info.Mode().Perm() != want.mode {
			t.Errorf("%s belongs to %d and has mode %v, want %+v", name, owner, info.Mode(), want)
		}
	}
}

func init() { childRoles["full"] = restoreToFullDisk }
