//go:build !linux

package redistest

import "syscall"

// endWithParent does nothing: a server may outlive a test that is killed.
func endWithParent() *syscall.SysProcAttr { return nil }
