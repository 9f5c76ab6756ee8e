//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"syscall"
)

// GiveTo gives a file the owner of another one.
func GiveTo(file *os.File, other fs.FileInfo) error {
	owner := other.Sys().(*syscall.Stat_t)
	return file.Chown(int(owner.Uid), int(owner.Gid))
}
