//go:build unix

package restore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/chatguard/chatguard/internal/persist/persisttest"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
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

// nobody and other are users without rights.
const nobody, other = 65534, 65533

// restoreAsNobody restores as nobody if root starts it, and prints the error.
func restoreAsNobody(ctx context.Context, path string) error {
	if os.Geteuid() == 0 {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody)); err != nil {
			return err
		}
	}
	in := &installation{folder: filepath.Dir(path), backup: os.Getenv(backupVariable)}
	_, err := Run(ctx, in.backup, in.options())
	fmt.Println(err)
	return nil
}

// owned is the owner and the mode of a file.
type owned struct {
	owner int
	mode  os.FileMode
}

func wantOwned(t *testing.T, want map[string]owned) {
	t.Helper()
	for name, want := range want {
		info, err := os.Lstat(name)
		persisttest.Must(t, err)
		if owner := int(info.Sys().(*syscall.Stat_t).Uid); owner != want.owner || info.Mode().Perm() != want.mode {
			t.Errorf("%s belongs to %d and has mode %v, want %+v", name, owner, info.Mode(), want)
		}
	}
}

// give gives files to a user, with the folder above all folders of the test.
func give(t *testing.T, user int, in *installation, names ...string) {
	t.Helper()
	for _, name := range append(names, filepath.Dir(in.folder), in.folder, filepath.Dir(in.backup), in.backup) {
		persisttest.Must(t, os.Lchown(name, user, user))
	}
}

// TestRun_Owners checks whose the restored files are, for a user other than root, and for root if
// root runs the tests.
func TestRun_Owners(t *testing.T) {
	t.Parallel()
	t.Run("user", testOwnersOfUser)
	forRoot(t, testOwnersOfRoot)
}

// forRoot runs the half of a test that needs root, or says that it doesn't.
func forRoot(t *testing.T, test func(*testing.T)) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Log("only the half for other users is tested: the other one needs root")
		return
	}
	t.Run("root", test)
}

// testOwnersOfUser checks that what another user restores belongs to that user: nobody if root runs
// the tests, otherwise the present user.
func testOwnersOfUser(t *testing.T) {
	in := newInstallation(t)
	user := os.Geteuid()
	persisttest.Must(t, os.Remove(in.places().Database))
	persisttest.Must(t, os.Chmod(in.places().Configuration, 0o644))
	if user == 0 {
		user = nobody
		give(t, user, in, in.places().Configuration, in.places().Login, in.places().TextKey)
	}
	c := persisttest.StartChild(t, "nobody", in.places().Database, backupVariable+"="+in.backup)
	if line := c.Next(t); line != "<nil>" {
		t.Errorf("the restore says %q", line)
	}
	persisttest.Must(t, c.Wait())
	wantOwned(t, map[string]owned{
		in.places().Database: {user, 0o600}, in.places().Database + ".lock": {user, 0o600},
		in.places().Login: {user, 0o600}, in.places().TextKey: {user, 0o600}, in.places().Configuration: {user, 0o644},
	})
}

// testOwnersOfRoot checks that what root restores belongs to the owner of what was there, or of the
// folder.
func testOwnersOfRoot(t *testing.T) {
	in := newInstallation(t)
	persisttest.Must(t, os.Remove(in.places().Database))
	persisttest.Must(t, os.Chown(in.folder, nobody, nobody))
	persisttest.Must(t, os.Chown(in.places().Configuration, other, other))
	persisttest.Must(t, os.Chmod(in.places().Configuration, 0o644))
	_, err := Run(ctx, in.backup, in.options())
	persisttest.Must(t, err)
	wantOwned(t, map[string]owned{
		in.places().Database: {nobody, 0o600}, in.places().Database + ".lock": {nobody, 0o600},
		in.places().Login: {0, 0o600}, in.places().TextKey: {0, 0o600}, in.places().Configuration: {other, 0o644},
	})
}

// TestRun_ForeignLinks checks that a user may have links anywhere, and that root follows no link
// that another user can change, if root runs the tests.
func TestRun_ForeignLinks(t *testing.T) {
	t.Parallel()
	t.Run("user", testLinksOfUser)
	forRoot(t, testLinksOfRoot)
}

// testLinksOfRoot lets root restore, and complete a restore, through links of another user.
func testLinksOfRoot(t *testing.T) {
	for name, change := range map[string]func(in *installation) error{
		"folder":   func(in *installation) error { return os.Chown(in.folder, nobody, nobody) },
		"link":     func(in *installation) error { return os.Lchown(in.places().Login, nobody, nobody) },
		"writable": func(in *installation) error { return os.Chmod(in.folder, 0o777) },
		"link to the key of texts": func(in *installation) error {
			link := in.places().TextKey
			return errors.Join(os.Remove(link), os.Symlink("elsewhere", link), os.Lchown(link, nobody, nobody))
		},
		"folder of a second link": func(in *installation) error {
			theirs := filepath.Join(in.folder, "theirs")
			second := filepath.Join(theirs, "second")
			target, err := os.Readlink(in.places().Login)
			return errors.Join(err, os.Mkdir(theirs, 0o755), os.Symlink(target, second), os.Chown(theirs, nobody, nobody),
				os.Remove(in.places().Login), os.Symlink("theirs/second", in.places().Login))
		},
	} {
		t.Run(name, func(t *testing.T) {
			in, real := newLinkedLogin(t)
			persisttest.Must(t, change(in))
			_, err := Run(ctx, in.backup, in.options())
			persisttest.WantError(t, err, " is a symbolic link that users other than root can change: run this as the owner of its folder, or put the file itself there")
			persisttest.Must(t, os.WriteFile(real+sqlite.PartSuffix, nil, 0o600))
			_, err = Finish(in.places())
			if _, gone := os.Stat(real + sqlite.PartSuffix); err != nil || gone != nil {
				t.Errorf("a file was removed through the link: %v, %v", gone, err)
			}
			persisttest.Must(t, os.WriteFile(in.places().Database+sqlite.PartSuffix, in.now[databasePart], 0o600))
			in.mark(t, databasePart)
			_, err = Finish(in.places())
			persisttest.WantError(t, err, " is a symbolic link that users other than root can change")
			if !bytes.Equal(read(t, real), in.old[loginPart]) || !bytes.Equal(read(t, in.places().Database), in.old[databasePart]) {
				t.Error("files were replaced")
			}
		})
	}
}

func testLinksOfUser(t *testing.T) {
	in, real := newLinkedLogin(t)
	if os.Geteuid() == 0 {
		p := in.places()
		give(t, nobody, in, p.Configuration, p.Database, p.Login, p.TextKey, real, filepath.Dir(real))
	}
	c := persisttest.StartChild(t, "nobody", in.places().Database, backupVariable+"="+in.backup)
	if line := c.Next(t); line != "<nil>" || !bytes.Equal(read(t, real), in.now[loginPart]) {
		t.Errorf("the restore says %q, the login is %s", line, read(t, real))
	}
	persisttest.Must(t, c.Wait())
}

// newLinkedLogin returns an installation whose login is a link to the file real.
func newLinkedLogin(t *testing.T) (in *installation, real string) {
	t.Helper()
	in, real = newInstallation(t), filepath.Join(t.TempDir(), "real")
	persisttest.Must(t, os.Rename(in.places().Login, real))
	persisttest.Must(t, os.Symlink(real, in.places().Login))
	return in, real
}
func init() { childRoles["full"], childRoles["nobody"] = restoreToFullDisk, restoreAsNobody }
