//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// detach keeps Ctrl-C away from a program, which must end after the nodes.
func detach(command *exec.Cmd) { command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func interrupt(command *exec.Cmd) error { return command.Process.Signal(syscall.SIGTERM) }
