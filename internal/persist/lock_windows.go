package persist

// foreignLock always returns zero values, because Windows has no list of locks.
func foreignLock(string) (owner string, pid int, held bool) { return "", 0, false }
