package chatguard

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// ParseDuration parses a duration as time.ParseDuration does, and also accepts whole days: "4s",
// "30m", "14d". A day always has 24 hours.
func ParseDuration(text string) (time.Duration, error) {
	days, ok := strings.CutSuffix(text, "d")
	if !ok {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseUint(days, 10, 63)
	switch {
	case err != nil:
		return 0, err
	case n > uint64(math.MaxInt64/day):
		return 0, strconv.ErrRange
	}
	return time.Duration(n) * day, nil
}

// FormatDuration formats a duration in short form, which ParseDuration reads: "30m" rather than
// "30m0s".
func FormatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

// FormatWait formats a duration for people, rounded up so that nobody retries too early: "4 s", "12
// min", "3 h 12 min", "5 days". A negative duration is "0 s".
func FormatWait(d time.Duration) string {
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
