// Package clock has the clocks that don't follow the steps of the wall clock: one for waiting and budgets, and one for a chat that stamps its messages.
// It knows nothing of messages.
package clock

import "time"

// Monotonic returns a clock that starts with the wall clock and counts on with the monotonic clock, whatever becomes of the wall clock. Pauses,
// budgets and time-outs are counted with it. It is safe for concurrent use.
func Monotonic() func() time.Time {
	start := time.Now()
	return func() time.Time { return start.Add(time.Since(start)).Round(0) }
}
