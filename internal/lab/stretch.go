package lab

import (
	"slices"
	"time"
)

// mostIn returns the most times in any half-open stretch of a given length. The times must be
// sorted.
func mostIn(times []int64, length time.Duration) int {
	most, first := 0, 0
	for i, at := range times {
		for at-times[first] >= int64(length) {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// Stretch adds up what happens within a length of time, and finds the stretch with the most. It
// needs the times in order; a time before the last one counts as the last one. Create one with
// NewStretch.
type Stretch struct {
	length time.Duration
	events []event // the first gone events are too old
	gone   int
	sum    int64 // costs of the others
	most   int64 // the highest sum so far
	began  int64 // when the stretch with the most began
}

// event is something that happened, and its cost.
type event struct{ at, cost int64 }

// NewStretch returns an empty Stretch. It is half-open: what happened exactly length ago is
// outside.
func NewStretch(length time.Duration) Stretch { return Stretch{length: length} }

// Add adds an event at a time in nanoseconds, and returns the sum of the stretch that ends with
// this event.
func (s *Stretch) Add(at, cost int64) (sum int64) {
	if n := len(s.events); n > 0 {
		at = max(at, s.events[n-1].at)
	}
	for s.gone < len(s.events) && at-s.events[s.gone].at >= int64(s.length) {
		s.sum -= s.events[s.gone].cost
		s.gone++
	}
	if s.gone > len(s.events)/2 {
		s.events, s.gone = slices.Delete(s.events, 0, s.gone), 0
	}
	s.events = append(s.events, event{at, cost})
	s.sum += cost
	if s.sum > s.most {
		s.most, s.began = s.sum, s.events[s.gone].at
	}
	return s.sum
}

// Most returns the most in any stretch so far, and when the first such stretch began.
func (s *Stretch) Most() (most, began int64) { return s.most, s.began }
