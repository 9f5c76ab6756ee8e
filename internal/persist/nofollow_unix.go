//go:build unix

package persist

import "syscall"

// noFollow makes opening a file fail if its name is a symbolic link.
const noFollow = syscall.O_NOFOLLOW
