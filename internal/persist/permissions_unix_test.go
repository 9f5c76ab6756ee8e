//go:build unix

package persist

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/persist/sqlite"
)

// CheckFolder names a folder in which others can create files, and Open logs that.
func TestCheckFolder(t *testing.T) {
	t.Parallel()
	path := databasePath(t)
	folder := filepath.Dir(path)
	for mode, isOpen := range map[os.FileMode]bool{0o755: false, 0o700: false, 0o777: true, 0o777 | os.ModeSticky: true} {
		must(t, os.Chmod(folder, mode))
		var log bytes.Buffer
		must(t, open(t, path, &Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}).Close())
		if warned := strings.Contains(log.String(), "can create files in "); warned != isOpen {
			t.Errorf("with mode %v, Open logs %q", mode, log.String())
		}
		err := sqlite.CheckFolder(path)
		if isOpen {
			wantError(t, err, "can create files in "+folder)
		} else {
			must(t, err)
		}
	}
}
