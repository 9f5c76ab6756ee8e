//go:build !linux

package main

import "os"

// isJournal always returns false, because only Linux has systemd's journal.
func isJournal(*os.File, string) bool { return false }
