//go:build unix

package sqlite

import "syscall"

// noFollow makes opening a file fail if its name is a symbolic link.
const noFollow = syscall.O_NOFOLLOW
