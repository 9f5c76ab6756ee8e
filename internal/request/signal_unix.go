//go:build unix

package request

import (
	"os"
	"os/signal"
	"syscall"
)

// ByHand says how a person makes a chatguard without a database load its configuration.
const ByHand = "send SIGHUP yourself to one that runs with --no-database"

// notify tells a process by a signal that a request is pending.
func notify(pid int) error { return syscall.Kill(pid, syscall.SIGHUP) }

// Notifications returns a channel that receives a value each time this process is notified, until
// stop is called. Notifications that arrive at almost the same time may count as one.
func Notifications() (asked <-chan os.Signal, stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	return signals, func() { signal.Stop(signals) }
}
