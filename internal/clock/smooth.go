package clock

import (
	"sync/atomic"
	"time"
)

// The parameters by which a clock follows the wall clock.
const (
	// slew limits the correction: the clock runs at most one part in slew, which is 5 %,
	// faster or slower.
	slew      = 20
	jump      = time.Minute      // larger differences are applied at once
	tolerance = time.Millisecond // smaller differences are ignored
	// checkEvery is how often the clock reads the wall clock. Reading one clock takes half the time
	// of reading two.
	checkEvery = 10 * time.Millisecond
)

// Smooth follows the wall clock but smooths out its steps. It starts at the wall clock's time and
// advances with the monotonic clock. If the wall clock then differs, the clock moves slowly towards
// it. So if the wall clock is set back by some seconds, messages sent one after another never look
// simultaneous. Create one with NewSmooth. It is safe for concurrent use, and reading it takes no
// lock.
type Smooth struct {
	// read returns the time since the start, by the wall clock and by the monotonic clock.
	read    func() (wall, elapsed time.Duration)
	elapsed func() time.Duration // the second result of read; nil means the time since began
	began   time.Time
	start   int64 // in nanoseconds since the Unix epoch
	drawn   atomic.Pointer[drawing]
	checked atomic.Int64 // when the wall clock was last read, in nanoseconds since the start
	// JumpedBack is called after a jump back, in the goroutine whose reading detects the jump. It
	// may be nil. It must be set before the first reading.
	JumpedBack func(to time.Time)
}

// drawing describes how a clock's offset from the monotonic clock changes. The offset starts at
// from. At the time since, it begins to change, until it equals to.
type drawing struct {
	from, to time.Duration
	since    time.Duration // elapsed since the clock's start
}

// NewSmooth returns a clock that reads this machine's clocks.
func NewSmooth() *Smooth {
	began := time.Now()
	c := &Smooth{began: began, start: began.UnixNano()}
	c.read = func() (time.Duration, time.Duration) {
		now := time.Now()
		return time.Duration(now.UnixNano() - c.start), now.Sub(began)
	}
	c.drawn.Store(&drawing{})
	return c
}

// SmoothOf returns a clock that starts at the given time and reads other clocks than this
// machine's. read returns the time since the start, by the wall clock and by the monotonic clock.
func SmoothOf(start time.Time, read func() (wall, elapsed time.Duration)) *Smooth {
	c := &Smooth{read: read, start: start.UnixNano()}
	c.elapsed = func() time.Duration {
		_, elapsed := read()
		return elapsed
	}
	c.drawn.Store(&drawing{})
	return c
}

// Now returns the time.
func (c *Smooth) Now() time.Time { return time.Unix(0, c.Nanoseconds()) }

// Nanoseconds returns the time in nanoseconds since the Unix epoch.
func (c *Smooth) Nanoseconds() int64 {
	var elapsed time.Duration
	if c.elapsed == nil {
		elapsed = time.Since(c.began) // a call through a variable takes longer
	} else {
		elapsed = c.elapsed()
	}
	if checked := c.checked.Load(); elapsed-time.Duration(checked) >= checkEvery && c.checked.CompareAndSwap(checked, int64(elapsed)) {
		elapsed = c.follow()
	}
	return c.start + int64(elapsed+c.drawn.Load().offset(elapsed))
}

// at returns the clock's start plus a duration.
func (c *Smooth) at(since time.Duration) time.Time { return time.Unix(0, c.start+int64(since)) }

// follow compares the clock with the wall clock, and begins to correct it if they differ. It
// returns how much time has elapsed since the start.
func (c *Smooth) follow() (elapsed time.Duration) {
	wall, elapsed := c.read()
	d := c.drawn.Load()
	ahead := wall - elapsed // wall clock's lead over the monotonic clock
	if (ahead - d.to).Abs() <= tolerance {
		return elapsed
	}
	next := &drawing{from: d.offset(elapsed), to: ahead, since: elapsed}
	step := next.to - next.from
	if step.Abs() > jump {
		next.from = next.to
	}
	first := c.drawn.CompareAndSwap(d, next) // if false, another goroutine has corrected it
	if first && step < -jump && c.JumpedBack != nil {
		c.JumpedBack(c.at(elapsed + next.to))
	}
	return elapsed
}

// offset returns the offset from the monotonic clock when elapsed has passed since the clock's
// start.
func (d *drawing) offset(elapsed time.Duration) time.Duration {
	if d.from == d.to {
		return d.to
	}
	most := max(0, elapsed-d.since) / slew
	return d.from + max(-most, min(most, d.to-d.from))
}
