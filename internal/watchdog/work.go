// Package watchdog finds out whether a program is stuck.
//
// A loop that waits for something to do is fine, however long it waits. A loop is stuck if it has
// begun something that takes microseconds, and hasn't finished it after many seconds. It probably
// waits for a lock that nobody releases. The package knows neither what is done nor what happens if
// it is stuck. Don't count time in which a loop waits for a disk or a network: a restart doesn't
// make them faster.
package watchdog

import (
	"fmt"
	"sync"
	"time"
)

// Work is something that a program does often, and that should take almost no time. Several
// goroutines may do it at once. The zero value is ready to use and has no name. It is safe for
// concurrent use.
type Work struct {
	Name string // for people, such as "judging messages"

	mu    sync.Mutex
	began []time.Time // when each piece of work in progress began; zero is a free place
}

// Begin records that a piece of work begins. It returns the number to pass to End.
func (w *Work) Begin(now time.Time) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.began {
		if w.began[i].IsZero() {
			w.began[i] = now
			return i
		}
	}
	w.began = append(w.began, now)
	return len(w.began) - 1
}

// End records that a piece of work is done.
func (w *Work) End(number int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.began[number] = time.Time{}
}

// Stuck returns a text that names the work if a piece of it has taken longer than limit. Otherwise
// it returns "".
func (w *Work) Stuck(now time.Time, limit time.Duration) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	longest := limit
	for _, at := range w.began {
		if !at.IsZero() {
			longest = max(longest, now.Sub(at))
		}
	}
	if longest == limit {
		return ""
	}
	return fmt.Sprintf("%s has taken %v so far", w.Name, longest.Round(time.Millisecond))
}
