package clock

import (
	"sync"
	"time"
)

const (
	recently = 10 * time.Minute // minimum time for which a stamp counts
	// slewBack limits how fast a chat's clock is set back: by at most 1/20 of the elapsed time.
	slewBack = 20
	// jump is the maximum lead of the clock that is corrected slowly. If the clock is ahead by more
	// than jump, it is set back at once. If a stamp is ahead of the clock by more than jump, the
	// next stamp must confirm it.
	jump = time.Minute
)

// Chat is the clock of a chat whose server stamps each message. It is this machine's monotonic
// clock plus the largest lead of the recent stamps. Neither steps of the wall clock nor a suspended
// process affect it. Before the first stamp, it starts at the wall clock's time and advances with
// the monotonic clock. Create one with NewChat. It is safe for concurrent use.
type Chat struct {
	// SetBack is called with the new time if the clock is set back at once, for example by the
	// first stamp. It must be set before the first message. Nil means no call.
	SetBack func(to time.Time)

	now   func() time.Time // only differences between its readings count
	start time.Time

	mu   sync.Mutex // guards the fields below
	seen bool       // whether there was a stamp
	// recent is the current span of stamps. When it is too old, it replaces before, the previous
	// span.
	recent span
	before span
	// far is the lead of the last stamp if that was too far ahead to be trusted without
	// confirmation, else 0.
	far   time.Duration
	ahead time.Duration // lead over the monotonic clock, as of since
	since time.Duration // time after start
}

// span is the largest lead of the stamps over the monotonic clock during a period.
type span struct {
	began time.Duration
	ahead time.Duration
}

// NewChat returns a chat's clock. If now is nil, it uses time.Now, which has a monotonic reading.
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

// Observe records the stamp of a message that arrived now.
func (c *Chat) Observe(stamp time.Time) {
	elapsed := c.now().Sub(c.start)
	if setBack := c.observe(stamp.Sub(c.start)-elapsed, elapsed); setBack && c.SetBack != nil {
		c.SetBack(c.Now())
	}
}

// observe records a stamp with the given lead over the monotonic clock. It reports whether the
// clock was set back at once.
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
	c.ahead, c.since = was, elapsed // keep the lead before it shrinks
	if elapsed-c.recent.began > recently {
		c.before, c.recent = c.recent, span{elapsed, ahead}
	}
	c.recent.ahead = max(c.recent.ahead, ahead)
	return c.aheadAt(elapsed) < was
}

// aheadAt returns the chat's lead over the monotonic clock. It is never less than the lead of the
// recent stamps. The caller holds mu.
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
