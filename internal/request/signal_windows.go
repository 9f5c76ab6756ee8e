package request

import (
	"fmt"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/windows"
)

// ByHand says how a person makes a chatguard without a database load its configuration.
const ByHand = "restart one that runs with --no-database"

// eventName returns the name of the event that notifies a process. Windows has no SIGHUP. The name
// is global, so that a command in a window reaches a scheduled task or a service. Only the
// process's user, administrators and the system may signal the event.
func eventName(pid int) (*uint16, error) {
	return windows.UTF16PtrFromString(fmt.Sprintf(`Global\chatguard-request-%d`, pid))
}

// notify tells a process by an event that a request is pending.
func notify(pid int) error {
	name, err := eventName(pid)
	if err != nil {
		return err
	}
	event, err := windows.OpenEvent(windows.EVENT_MODIFY_STATE, false, name)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(event)
	return windows.SetEvent(event)
}

// Notifications returns a channel that receives a value each time this process is notified, until
// stop is called. Notifications that arrive at almost the same time may count as one.
func Notifications() (asked <-chan os.Signal, stop func()) {
	name, err := eventName(os.Getpid())
	if err != nil {
		return nil, func() {}
	}
	// A handle is returned even if another process has created the event before.
	notified, err := windows.CreateEvent(nil, 0, 0, name)
	if notified == 0 {
		return nil, func() {} // commands then report that the process can't be notified
	}
	over, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		windows.CloseHandle(notified)
		return nil, func() {}
	}
	signals := make(chan os.Signal, 1)
	var waiting sync.WaitGroup
	waiting.Go(func() { forward(notified, over, signals) })
	return signals, func() {
		windows.SetEvent(over)
		waiting.Wait()
		windows.CloseHandle(over)
		windows.CloseHandle(notified)
	}
}

// forward sends a value to the channel each time the event notified is set, until the event over is
// set. It sends nothing while the channel is full.
func forward(notified, over windows.Handle, signals chan<- os.Signal) {
	for {
		set, err := windows.WaitForMultipleObjects([]windows.Handle{notified, over}, false, windows.INFINITE)
		if err != nil || set != windows.WAIT_OBJECT_0 {
			return
		}
		select {
		case signals <- syscall.SIGHUP:
		default:
		}
	}
}
