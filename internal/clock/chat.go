package clock

import (
	"sync"
	"time"
)

const (
	recently = 10 * time.Minute // how long a stamp counts, at least
	slewBack = 20               // a chat's clock is set back slowly: by one part in so many of the time that passes, which is 5 %
	jump     = time.Minute      // but at once if it is further ahead than this. A stamp that is so far ahead has to be confirmed by the next one
)

// Chat is the time in a chat whose server stamps each message: the monotonic clock of this machine, plus the smallest difference to the stamps seen
// recently. Neither steps of the wall clock nor a process that was stopped for a while change it. Until the first stamp it is the wall clock as it was at
// the start. Make one with NewChat. It is safe for concurrent use.
type Chat struct {
	// SetBack is told the time when the clock is set back at once, by the first stamp say. It has to be set before the first message; nil tells nobody.
	SetBack func(to time.Time)

	now   func() time.Time // only the differences between its readings count
	start time.Time

	mu     sync.Mutex // guards what follows
	seen   bool       // a stamp
	recent span       // of stamps; takes the place of before when it is old
	before span
	far    time.Duration // how far the last stamp was ahead if it was too far to be believed alone; 0 otherwise
	ahead  time.Duration // of the monotonic clock, at since
	since  time.Duration // after start
}

// span is how far stamps were ahead of the monotonic clock at most, while messages arrived that were seen in it.
type span struct {
	began time.Duration
	ahead time.Duration
}

// NewChat returns a chat's clock. Nil means time.Now, which has a monotonic reading.
func NewChat(now func() time.Time) *Chat {
	if now == nil {
		now = time.Now
	}
	return &Chat{now: now, start: now()}
}

// Now returns the time in the chat.
func (c *Chat) Now() time.Time {
	elapsed := c.now().Sub(c.start)
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.start.Round(0).Add(elapsed + c.aheadAt(elapsed))
}

// Observe takes note of the stamp of a message that arrived now.
func (c *Chat) Observe(stamp time.Time) {
	elapsed := c.now().Sub(c.start)
	if setBack := c.observe(stamp.Sub(c.start)-elapsed, elapsed); setBack && c.SetBack != nil {
		c.SetBack(c.Now())
	}
}

// observe takes note of a stamp that is so far ahead of the monotonic clock, and reports whether that set the clock back at once.
func (c *Chat) observe(ahead, elapsed time.Duration) (setBack bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.aheadAt(elapsed)
	if !c.seen {
		c.seen, c.ahead, c.since = true, ahead, elapsed
		c.recent = span{elapsed, ahead}
		c.before = c.recent
		return ahead < was
	}
	if ahead-was > jump && (c.far == 0 || (ahead-c.far).Abs() > jump) {
		c.far = ahead
		return false
	}
	c.far = 0
	c.ahead, c.since = was, elapsed // before anything is given up
	if elapsed-c.recent.began > recently {
		c.before, c.recent = c.recent, span{elapsed, ahead}
	}
	c.recent.ahead = max(c.recent.ahead, ahead)
	return c.aheadAt(elapsed) < was
}

// aheadAt is how far the chat is ahead of the monotonic clock: never less than the stamps say. The caller holds mu.
func (c *Chat) aheadAt(elapsed time.Duration) time.Duration {
	if !c.seen {
		return 0
	}
	said := max(c.recent.ahead, c.before.ahead)
	if c.ahead-said > jump {
		return said
	}
	return max(said, c.ahead-(elapsed-c.since)/slewBack)
}
