//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// tellToReload asks a process to take up its configuration anew.
func tellToReload(pid int) error { return syscall.Kill(pid, syscall.SIGHUP) }

// reloads brings something whenever this process is asked to take up its configuration anew, until stop is called. Requests that come together are
// one.
func reloads() (asked <-chan os.Signal, stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	return signals, func() { signal.Stop(signals) }
}
