// Package clock has clocks that don't follow steps of the wall clock: one for waiting and budgets,
// one for a chat that stamps its messages, and one that follows the steps slowly. It knows nothing
// about messages.
package clock

import "time"

// Monotonic returns a clock that starts at the wall clock's time and then follows only the
// monotonic clock. It is used for pauses, budgets and timeouts. It is safe for concurrent use.
func Monotonic() func() time.Time {
	start := time.Now()
	return func() time.Time { return start.Add(time.Since(start)).Round(0) }
}
