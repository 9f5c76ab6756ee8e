//go:build unix

package sqlite

import (
	"bufio"
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"strings"
	"syscall"
)

// foreignLock returns the owner of a lock file that this user may not open. held reports whether
// the system shows that a process holds the lock. pid is 0 if the system doesn't show it.
func foreignLock(name string) (owner string, pid int, held bool) {
	info, err := os.Stat(name)
	if err != nil {
		return "", 0, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", 0, false
	}
	owner, _ = ownerOf(info)
	pid, held = findLockHolder(uint64(stat.Ino))
	return owner, pid, held
}

// ownerOf returns the name or else the ID of the user to whom a file belongs, and whether that is
// root. The name is empty if the system doesn't say.
func ownerOf(info fs.FileInfo) (name string, isRoot bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", false
	}
	name = strconv.FormatUint(uint64(stat.Uid), 10)
	if known, err := user.LookupId(name); err == nil {
		name = known.Username
	}
	return name, stat.Uid == 0
}

// countNames returns how many names (hard links) a file has.
func countNames(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Nlink)
	}
	return 1
}

// findLockHolder finds the holder of a lock on the file with that inode, in Linux's list of all
// locks. If the holder runs in another container, pid is 0.
func findLockHolder(inode uint64) (pid int, held bool) {
	list, err := os.Open("/proc/locks")
	if err != nil {
		return 0, false // not Linux
	}
	defer list.Close()
	for lines := bufio.NewScanner(list); lines.Scan(); {
		// 1: FLOCK  ADVISORY  WRITE 4711 fd:01:131090 0 EOF
		fields := strings.Fields(lines.Text())
		if len(fields) < 6 || fields[1] != "FLOCK" || !strings.HasSuffix(fields[5], ":"+strconv.FormatUint(inode, 10)) {
			continue
		}
		pid, _ = strconv.Atoi(fields[4])
		return max(pid, 0), true
	}
	return 0, false
}
