package journal

import (
	"strconv"
	"strings"
	"time"
)

// ParseLength reads a length of time as time.ParseDuration does, and in whole days too: "10m", "2d". The error is strconv's or time's.
func ParseLength(text string) (time.Duration, error) {
	days, ok := strings.CutSuffix(text, "d")
	if !ok {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseUint(days, 10, 16) // 65,535 days fit
	return time.Duration(n) * 24 * time.Hour, err
}
