//go:build unix

package fileaccess

import (
	"os"
	"strings"
)

// OfOthers returns what other users may do with the file at path, by its mode.
func OfOthers(path string) (Access, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Access{}, err
	}
	mode := info.Mode().Perm()
	return Access{Read: mode&0o077 != 0, Write: mode&0o022 != 0}, nil
}

// Fix returns the command that makes files private. They are in one folder.
func Fix(paths ...string) string { return "chmod 600 " + strings.Join(paths, " ") }
