//go:build unix

package atomicfile

import "os"

// Rename gives a file another name. A file of that name is replaced.
func Rename(from, to string) error { return os.Rename(from, to) }
