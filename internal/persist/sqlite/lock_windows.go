package sqlite

import "io/fs"

// foreignLock always returns zero values, because Windows has no list of locks.
func foreignLock(string) (owner string, pid int, held bool) { return "", 0, false }

// countNames always returns 1, because a FileInfo doesn't have the number of names on Windows.
func countNames(fs.FileInfo) int { return 1 }

// ownerOf always returns zero values: on Windows a permission error is no reason to suggest another
// user.
func ownerOf(fs.FileInfo) (name string, isRoot bool) { return "", false }
