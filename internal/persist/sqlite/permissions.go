package sqlite

import (
	"fmt"
	"path/filepath"

	"github.com/chatguard/chatguard/internal/fileaccess"
)

// CheckFolder returns an error if other users of this machine can create files beside the database
// at path. The error is one line with the fix.
func CheckFolder(path string) error {
	path, err := realPath(path)
	if err != nil {
		return nil // opening it reports the error
	}
	if folder := filepath.Dir(path); fileaccess.IsOpenFolder(folder) {
		return fmt.Errorf("other users of this machine can create files in %s, where the database is: move the database to a private folder, or run chmod go-w %[1]s if that folder is yours", folder)
	}
	return nil
}

// CheckMode returns an error if other users of this machine can read or change the database at
// path. Such users could read chat and give themselves access. The error is one line with the fix.
// There is no error for a database that doesn't exist.
func CheckMode(path string) error {
	path, err := realPath(path)
	if err != nil {
		return nil // opening it reports the error
	}
	var open []string
	var others fileaccess.Access
	for _, suffix := range []string{"", "-wal", "-shm"} {
		access, err := fileaccess.OfOthers(path + suffix)
		if err == nil && access.Any() {
			open = append(open, path+suffix)
			others.Read, others.Write = others.Read || access.Read, others.Write || access.Write
		}
	}
	if len(open) == 0 {
		return nil
	}
	return fmt.Errorf("database %s can be %s by other users of this machine: %s", path, others.Verb(), fileaccess.Fix(open...))
}
