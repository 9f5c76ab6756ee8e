//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// notify tells a process that it is asked something.
func notify(pid int) error { return syscall.Kill(pid, syscall.SIGHUP) }

// notifications brings something whenever this process is notified, until stop is called. Notifications that come together are one.
func notifications() (asked <-chan os.Signal, stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	return signals, func() { signal.Stop(signals) }
}
