package report

import (
	"syscall"
	"time"
)

// ProcessorTime returns the processor time that this process has used so far.
func ProcessorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err) // can't fail: the arguments are valid
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
