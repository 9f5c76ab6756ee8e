//go:build unix

package main

import (
	"io/fs"
	"os"
	"syscall"
)

// giveTo makes a file that of the owner of another one.
func giveTo(file *os.File, other fs.FileInfo) error {
	owner := other.Sys().(*syscall.Stat_t)
	return file.Chown(int(owner.Uid), int(owner.Gid))
}
