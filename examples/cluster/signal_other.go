//go:build !unix

package main

import "os/exec"

func detach(*exec.Cmd) {}

func interrupt(command *exec.Cmd) error { return command.Process.Kill() }
