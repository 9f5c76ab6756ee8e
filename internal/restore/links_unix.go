//go:build unix

package restore

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/chatguard/chatguard/internal/persist/transfer"
)

// checkLinks returns an error if this process runs as root and would follow a symbolic link that
// another user can change. That user could otherwise choose which file root replaces.
func checkLinks(places transfer.Installation) error {
	if os.Geteuid() != 0 {
		return nil
	}
	for _, name := range []string{places.Configuration, places.Database, places.Login, places.TextKey} {
		if err := checkLink(name, 0); err != nil {
			return err
		}
	}
	return nil
}

// maxLinks is the maximum length of a chain of links. The system follows fewer.
const maxLinks = 64

// checkLink checks a path and its folders. followed is how many links led to it.
func checkLink(path string, followed int) error {
	folder := filepath.Dir(path)
	if folder != path {
		if err := checkLink(folder, followed); err != nil {
			return err
		}
	}
	link, err := os.Lstat(path)
	if err != nil || link.Mode()&fs.ModeSymlink == 0 || followed == maxLinks {
		return nil // opening it reports the error
	}
	info, err := os.Stat(folder)
	if err != nil {
		return nil
	}
	if !isRoots(link) || !isRoots(info) || info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0 {
		return fmt.Errorf("%s is a symbolic link that users other than root can change: run this as the owner of its folder, or put the file itself there", path)
	}
	target, err := os.Readlink(path)
	if err != nil {
		return nil
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(realFile(folder), target)
	}
	return checkLink(target, followed+1)
}

func isRoots(info fs.FileInfo) bool { return info.Sys().(*syscall.Stat_t).Uid == 0 }
