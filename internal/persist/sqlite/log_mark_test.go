package sqlite

import (
	"os"
	"path/filepath"
	"testing"
)

// A log that can't be read isn't called truncated. It would be emptied then.
func TestLogMark_Unreadable(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	must(t, os.WriteFile(filepath.Join(folder, "file"), nil, 0o600)) // so that the folder has a size
	m := logMark{header: [32]byte{1}, size: 1}
	if !m.follow(folder) {
		t.Error("truncated")
	}
}
