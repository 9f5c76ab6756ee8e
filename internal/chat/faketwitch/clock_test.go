package faketwitch

import (
	"sync/atomic"
	"time"
)

// clock is a clock that a test advances. The server reads it whenever a line or a request arrives,
// including ones that the test doesn't wait for.
type clock struct{ nanos atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.nanos.Store(time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC).UnixNano())
	return c
}

func (c *clock) Now() time.Time { return time.Unix(0, c.nanos.Load()).UTC() }

func (c *clock) advance(d time.Duration) { c.nanos.Add(int64(d)) }
