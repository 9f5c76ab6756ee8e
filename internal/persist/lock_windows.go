package persist

// foreignLock knows nothing: Windows has no such list.
func foreignLock(string) (owner string, pid int, held bool) { return "", 0, false }
