package faketwitch

import (
	"slices"
	"time"
)

// recentTimes are the times of recent requests of one kind, oldest first.
type recentTimes []time.Time

// take reports whether another request is allowed now, and if so counts it. most is the maximum per
// period.
func (r *recentTimes) take(now time.Time, most int, period time.Duration) bool {
	*r = slices.DeleteFunc(*r, func(at time.Time) bool { return now.Sub(at) >= period })
	if len(*r) >= most {
		return false
	}
	*r = append(*r, now)
	return true
}
