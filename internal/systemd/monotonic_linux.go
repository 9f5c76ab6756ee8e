package systemd

import (
	"time"

	"golang.org/x/sys/unix"
)

// monotonic returns the time of CLOCK_MONOTONIC, which systemd uses. Go's time.Time doesn't reveal
// it.
func monotonic() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return 0 // every Linux has this clock
	}
	return time.Duration(now.Nano())
}
