package atomicfile

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// errSharing is the error for a file that another program has open.
const errSharing = syscall.Errno(32)

// For how long Rename retries, and how often.
const (
	renameTime  = 2 * time.Second
	renameRetry = 10 * time.Millisecond
)

// Rename gives a file another name. A file of that name is replaced. Windows doesn't replace a file
// that is open, so Rename waits briefly for readers and virus scanners to close it.
func Rename(from, to string) (err error) {
	for start := time.Now(); ; time.Sleep(renameRetry) {
		err = os.Rename(from, to)
		isOpen := errors.Is(err, errSharing) || errors.Is(err, syscall.ERROR_ACCESS_DENIED)
		if !isOpen || time.Since(start) > renameTime {
			return err
		}
	}
}
