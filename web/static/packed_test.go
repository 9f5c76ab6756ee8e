//go:build packed

package static

import (
	"bytes"
	"io/fs"
	"os"
	"testing"
)

// TestPacked_HasFiles checks that the embedded archive opens, and has the files of this folder.
func TestPacked_HasFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"index.html", "lab.html", "overlay.html", "viewer.html", "missing.html"} {
		if _, err := fs.Stat(Files, name); err != nil {
			t.Error(err)
		}
	}
	err := fs.WalkDir(Files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		got, err := fs.ReadFile(Files, name)
		if err != nil {
			return err
		}
		want, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs in the archive; run go run ./web/pack", name)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
