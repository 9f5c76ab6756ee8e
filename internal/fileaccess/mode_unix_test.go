//go:build unix

package fileaccess

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestOfOthers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	if _, err := OfOthers(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[fs.FileMode]Access{
		0o600: {}, 0o640: {Read: true}, 0o604: {Read: true}, 0o666: {Read: true, Write: true}, 0o620: {Read: true, Write: true},
	} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if got, err := OfOthers(path); got != want || err != nil {
			t.Errorf("%v: %v, %v, want %v", mode, got, err, want)
		}
	}
}

// ReadTrusted refuses what another user may have left at the path, and waits for nobody.
func TestReadTrusted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	for name, test := range map[string]struct {
		leave func() error
		want  string
	}{
		"private":         {func() error { return os.WriteFile(path, []byte("text"), 0o600) }, "tex"},
		"others may read": {func() error { return os.WriteFile(path, []byte("text"), 0o644) }, "tex"},
		"others may write": {func() error {
			return errors.Join(os.WriteFile(path, []byte("text"), 0o600), os.Chmod(path, 0o620))
		}, ""},
		"a pipe": {func() error { return syscall.Mkfifo(path, 0o600) }, ""},
		"a link": {func() error {
			return errors.Join(os.WriteFile(path+"2", []byte("text"), 0o600), os.Symlink(path+"2", path))
		}, ""},
	} {
		if err := test.leave(); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadTrusted(path, path+" missing", 3); string(got) != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOwners checks what only root can try: files and folders of other users.
func TestOwners(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		return
	}
	folder := t.TempDir()
	path, like := filepath.Join(folder, "file"), filepath.Join(folder, "like")
	const one, other = 65533, 65534
	give := func(name string, user, group int) {
		t.Helper()
		if err := os.Chown(name, user, group); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{path, like} {
		if err := os.WriteFile(name, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
		give(name, one, one)
	}
	if _, err := ReadTrusted(path, like, 9); err != nil {
		t.Errorf("of the same owner: %v", err)
	}
	give(like, other, other)
	if _, err := ReadTrusted(path, like, 9); err == nil {
		t.Error("another user's file is read")
	}
	if err := os.Chmod(folder, 0o770); err != nil {
		t.Fatal(err)
	}
	for group, isOpen := range map[int]bool{one: false, other: true} {
		if give(folder, one, group); IsOpenFolder(folder) != isOpen {
			t.Errorf("a folder of user %d and group %d: open %v", one, group, !isOpen)
		}
	}
}
