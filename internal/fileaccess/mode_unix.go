//go:build unix

package fileaccess

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
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

// careful makes opening a file fail if its name is a symbolic link, and not wait if it is a pipe.
const careful = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// checkAuthor returns an error if ReadTrusted must refuse an open file.
func checkAuthor(file *os.File, like string) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	owner, trusted := ownerOf(info), os.Geteuid()
	if known, err := os.Stat(like); err == nil && owner != trusted {
		trusted = ownerOf(known)
	}
	switch {
	case !info.Mode().IsRegular():
		return errors.New("it is not a file")
	case owner != 0 && owner != trusted:
		return fmt.Errorf("it belongs to the user with the ID %d", owner)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("other users can change it: its mode is %#o", info.Mode().Perm())
	}
	return nil
}

// ownerOf returns the ID of a file's owner. The result of os.Stat has it on all Unix systems.
func ownerOf(info os.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }

// IsOpenFolder reports whether other users may create files in a folder. A group with the same ID
// as the owner counts as the owner's own.
func IsOpenFolder(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	mode, group := info.Mode().Perm(), info.Sys().(*syscall.Stat_t).Gid
	return mode&0o002 != 0 || mode&0o020 != 0 && int(group) != ownerOf(info)
}

// Fix returns the command that makes files private. The files must be in one folder.
func Fix(paths ...string) string { return "chmod 600 " + strings.Join(paths, " ") }
