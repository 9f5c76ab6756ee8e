//go:build !linux

package systemd

import "errors"

// checkSocket always fails: only Linux has systemd.
func checkSocket(int) error { return errors.New("systemd's sockets need Linux") }
