//go:build !linux

package systemd

import "time"

// monotonic returns 0: only Linux has systemd.
func monotonic() time.Duration { return 0 }
