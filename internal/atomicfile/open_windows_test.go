package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestWrite_OpenFile checks that a write waits for a reader, but not for ever.
func TestWrite_OpenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := Write(path, []byte("old"), nil); err != nil {
		t.Fatal(err)
	}
	before, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(path, []byte("new"), nil); !errors.As(err, new(*os.LinkError)) {
		t.Errorf("with a reader that stays: %v", err)
	}
	holds(t, path, "old", 0o600, 0)
	time.AfterFunc(renameTime/20, func() { before.Close() })
	if err := Write(path, []byte("new"), nil); err != nil {
		t.Errorf("with a reader that goes: %v", err)
	}
	holds(t, path, "new", 0o600, 0)
}
