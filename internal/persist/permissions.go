package persist

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// CheckMode returns an error if other users of this machine can read or change the database at
// path. Such users could read chat and give themselves access. The error is one line with the fix.
// There is no error for a database that doesn't exist.
func CheckMode(path string) error {
	if runtime.GOOS == "windows" {
		return nil // a mode has no meaning there
	}
	path, err := realPath(path)
	if err != nil {
		return nil // opening it reports the error
	}
	var open []string
	var mode os.FileMode
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(path + suffix)
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			open, mode = append(open, path+suffix), mode|info.Mode()
		}
	}
	if len(open) == 0 {
		return nil
	}
	what := "read"
	if mode&0o022 != 0 {
		what = "read and changed"
	}
	return fmt.Errorf("database %s can be %s by other users of this machine: chmod 600 %s", path, what, strings.Join(open, " "))
}
