package faketwitch

import (
	"slices"
	"time"
)

// recentTimes are the times of recent requests of one kind, oldest first.
type recentTimes []time.Time

// take reports whether there were fewer than most requests within the period, and if so counts
// another one.
func (r *recentTimes) take(now time.Time, most int, period time.Duration) bool {
	*r = slices.DeleteFunc(*r, func(at time.Time) bool { return now.Sub(at) >= period })
	if len(*r) >= most {
		return false
	}
	*r = append(*r, now)
	return true
}
