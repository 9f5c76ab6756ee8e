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
