package chatguard

import (
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
