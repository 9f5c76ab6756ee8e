//go:build unix

package main

import "syscall"

// apart makes a process independent of the terminal's signals.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
