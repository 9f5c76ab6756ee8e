//go:build unix

package persist

import (
	"os"
	"path/filepath"
	"testing"
)

// CheckFolder names a folder in which others can create files.
func TestCheckFolder(t *testing.T) {
	t.Parallel()
	path := databasePath(t)
	folder := filepath.Dir(path)
	for mode, isOpen := range map[os.FileMode]bool{0o755: false, 0o700: false, 0o777: true, 0o777 | os.ModeSticky: true} {
		must(t, os.Chmod(folder, mode))
		err := CheckFolder(path)
		if isOpen {
			wantError(t, err, "can create files in "+folder)
		} else {
			must(t, err)
		}
	}
}
