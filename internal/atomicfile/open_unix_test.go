//go:build unix

package atomicfile

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestWrite_OpenFile checks that a reader keeps the old contents.
func TestWrite_OpenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := Write(path, []byte("old"), nil); err != nil {
		t.Fatal(err)
	}
	before, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close()
	if err := Write(path, []byte("new"), nil); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "new", 0o600, 0)
	if old, err := io.ReadAll(before); err != nil || string(old) != "old" {
		t.Errorf("who reads the old file gets %q, %v", old, err)
	}
}
