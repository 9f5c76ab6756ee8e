package redisstore

import "golang.org/x/sys/unix"

// suspensions returns a function that returns how long the machine was suspended since, at least:
// Go's monotonic clock stands still meanwhile. Each clock is read in the order that makes the
// result too small rather than too large, if the process is interrupted between them.
func suspensions() func() int64 {
	monotonic := clockNow(unix.CLOCK_MONOTONIC)
	before := clockNow(unix.CLOCK_BOOTTIME) - monotonic
	return func() int64 {
		boot := clockNow(unix.CLOCK_BOOTTIME)
		return max(0, boot-clockNow(unix.CLOCK_MONOTONIC)-before)
	}
}

func clockNow(id int32) int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(id, &now); err != nil {
		return 0 // every Linux has these clocks
	}
	return now.Nano()
}
