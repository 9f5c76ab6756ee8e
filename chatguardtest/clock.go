package chatguardtest

import (
	"sync"
	"time"

	"github.com/chatguard/chatguard"
)

// Clock is a clock that stands still until a test moves it. Its method Now can be a Guard's
// [chatguard.Options].Now. The zero Clock shows midnight UTC on 1 January 2000, the time at which a
// bubble of testing/synctest begins. A Clock is safe for concurrent use, and must not be copied.
type Clock struct {
	mu  sync.Mutex
	now time.Time // zero means clockStart
}

var clockStart = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

// NewClock returns a clock that shows the given time.
func NewClock(now time.Time) *Clock { return &Clock{now: now} }

// Now returns the time that the clock shows.
func (c *Clock) Now() time.Time { return c.set(func(now time.Time) time.Time { return now }) }

// Advance moves the clock forward. It panics if d is negative; use Set to move the clock back.
func (c *Clock) Advance(d time.Duration) {
	if d < 0 {
		panic("chatguardtest: Clock.Advance by a negative duration; use Set")
	}
	c.set(func(now time.Time) time.Time { return now.Add(d) })
}

// Set sets the clock, forward or back. Name the Guards that use the clock: if it goes back, Set
// calls their Rewind, as [chatguard.Options].Now requires.
func (c *Clock) Set(now time.Time, guards ...*chatguard.Guard) {
	if before := c.set(func(time.Time) time.Time { return now }); !now.Before(before) {
		return
	}
	for _, guard := range guards {
		guard.Rewind(now)
	}
}

// set changes the time that the clock shows, and returns the time before.
func (c *Clock) set(change func(time.Time) time.Time) (before time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if before = c.now; before.IsZero() {
		before = clockStart
	}
	c.now = change(before)
	return before
}
