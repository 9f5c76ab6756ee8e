package chatguard

import (
	"fmt"
	"time"
)

// Wait formats a duration for people, rounded up so that nobody retries too early: "4 s", "12 min",
// "3 h 12 min", "5 days". A negative duration is "0 s".
func Wait(d time.Duration) string {
	seconds := roundUp(d, time.Second)
	minutes := (seconds + 59) / 60
	switch {
	case seconds < 120:
		return fmt.Sprintf("%d s", max(0, seconds))
	case minutes < 120:
		return fmt.Sprintf("%d min", minutes)
	case minutes < 48*60:
		return fmt.Sprintf("%d h %d min", minutes/60, minutes%60)
	}
	return fmt.Sprintf("%d days", (minutes+24*60-1)/(24*60))
}
