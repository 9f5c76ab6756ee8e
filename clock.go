package chatguard

import (
	"sync/atomic"
	"time"
)

// How a clock follows the wall clock.
const (
	clockSlew      = 20               // it runs faster or slower by one part in so many at most, which is 5 %
	clockJump      = time.Minute      // a larger difference is taken over at once
	clockTolerance = time.Millisecond // a smaller one is left alone
)

// clock is the wall clock without its steps: it starts with the wall clock, counts on with the monotonic clock, and is drawn slowly towards the wall
// clock where the two differ. So a wall clock that is set back by some seconds never makes messages that were sent one after the other look
// simultaneous. Make one with newClock. It is safe for concurrent use, and reading it takes no lock.
type clock struct {
	read       func() (wall, elapsed time.Duration) // since the start, by the wall clock and by the monotonic clock
	start      time.Time
	drawn      atomic.Pointer[drawing]
	jumpedBack func(to time.Time) // told in the goroutine that reads the clock first after a jump back; nil tells nobody
}

// drawing is how a clock changes its distance from the monotonic clock: from one to another, beginning at a time.
type drawing struct {
	from, to time.Duration
	since    time.Duration // elapsed since the clock's start
}

// newClock returns a clock that reads this machine's.
func newClock() *clock {
	start := time.Now()
	wall := start.UnixNano()
	return startClock(start, func() (time.Duration, time.Duration) {
		now := time.Now()
		return time.Duration(now.UnixNano() - wall), now.Sub(start)
	})
}

func startClock(start time.Time, read func() (wall, elapsed time.Duration)) *clock {
	c := &clock{read: read, start: start.Round(0)}
	c.drawn.Store(&drawing{})
	return c
}

// now returns the time.
func (c *clock) now() time.Time {
	wall, elapsed := c.read()
	d := c.drawn.Load()
	ahead := wall - elapsed // how far the wall clock has left the monotonic clock
	if off := ahead - d.to; off > clockTolerance || off < -clockTolerance {
		next := &drawing{from: d.at(elapsed), to: ahead, since: elapsed}
		jump := next.to - next.from
		if jump.Abs() > clockJump {
			next.from = next.to
		}
		first := c.drawn.CompareAndSwap(d, next) // another goroutine that was first has seen the same
		d = next
		if first && jump < -clockJump && c.jumpedBack != nil {
			c.jumpedBack(c.start.Add(elapsed + next.to))
		}
	}
	return c.start.Add(elapsed + d.at(elapsed))
}

// at is the distance from the monotonic clock at a time.
func (d *drawing) at(elapsed time.Duration) time.Duration {
	if d.from == d.to {
		return d.to
	}
	most := max(0, elapsed-d.since) / clockSlew
	return d.from + max(-most, min(most, d.to-d.from))
}
