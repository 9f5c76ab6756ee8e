package main

import (
	"fmt"
	"os"
	"syscall"
)

// isJournal reports whether the file is the connection to systemd's journal that the value of
// JOURNAL_STREAM names. The variable alone doesn't say that: a parent process may have set it, and
// the file may be redirected; see systemd.exec(5).
func isJournal(file *os.File, stream string) bool {
	info, err := file.Stat()
	if err != nil || stream == "" {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stream == fmt.Sprintf("%d:%d", stat.Dev, stat.Ino)
}
