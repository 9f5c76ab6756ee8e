//go:build unix

package doctor

import (
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

// TestFolderFix checks that a full disk has another fix than a folder that can't be written.
func TestFolderFix(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]string{
		fmt.Errorf("no file can be written (%w)", syscall.ENOSPC): "free some space",
		fs.ErrPermission: "make the folder writable",
	} {
		if got := folderFix(err); !strings.HasPrefix(got, want) {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
}
