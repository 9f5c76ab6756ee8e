// Package durations reads and writes durations as the configuration and the API do.
package durations

import (
	"math"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// Parse parses a duration as time.ParseDuration does, and also accepts whole days: "4s", "30m",
// "14d". A day always has 24 hours.
func Parse(text string) (time.Duration, error) {
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

// Format formats a duration in short form, which Parse reads: "30m" rather than "30m0s".
func Format(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}
