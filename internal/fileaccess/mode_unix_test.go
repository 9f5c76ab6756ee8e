//go:build unix

package fileaccess

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
