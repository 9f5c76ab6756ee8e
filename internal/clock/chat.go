package clock

import (
	"sync"
	"time"
)

const (
	recently = 10 * time.Minute // minimum time for which a stamp counts
	// slewBack limits how fast a chat's clock moves back towards stamps that agree with it: by at
	// most 1/20 of the elapsed time.
	slewBack = 20

	// A stamp agrees with the clock if it is at most early ahead of it, or at most late behind it.
	early = time.Second
	late  = 15 * time.Second
	// spread is how far a stamp can be ahead of a rival's first stamp and still agree with it.
	spread = 4 * time.Second
)

// The clock is set if stamps outvote it: if at least votesToWin more of them agree with one another
// than with the clock, over a period. A backlog, which arrives faster than it was sent, doesn't
// agree with itself for that long. The period is longer for stamps ahead of the clock. A delay does
// no harm there, because all new messages still look new.
const (
	votesToWin  = 3
	maxVotes    = 5 // so that a burst of stamps is soon forgotten
	behindToWin = 10 * time.Second
	aheadToWin  = 30 * time.Second
)

// Chat is the clock of a chat whose server stamps each message. It is this machine's monotonic
// clock plus the largest lead of the recent stamps. Stamps that are far from those of most messages
// have no effect. Neither steps of the wall clock nor a suspended process affect it. Before the
// first stamp, it starts at the wall clock's time and advances with the monotonic clock. Create one
// with NewChat. It is safe for concurrent use.
type Chat struct {
	// SetBack is called with the new time if the clock is set back in one step, for example by the
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
	rival  rival
	ahead  time.Duration // lead over the monotonic clock, as of since
	since  time.Duration // time after start
}

// span is the largest lead of the stamps over the monotonic clock during a period.
type span struct {
	began time.Duration
	ahead time.Duration
}

// rival is a lead over the monotonic clock that differs from the clock's, and on which stamps
// agree. Each stamp votes for or against the rival. votes is the majority for it, from 0 to
// maxVotes; if it is 0, there is no rival.
type rival struct {
	span
	first time.Duration // lead of the first stamp
	votes int
}

// oppose counts a stamp that agrees with the clock.
func (r *rival) oppose() { r.votes = max(0, r.votes-1) }

// vote counts a stamp that doesn't agree with the clock. clock and ahead are the leads of the clock
// and of the stamp. It reports whether the rival replaces the clock.
func (r *rival) vote(clock, ahead, elapsed time.Duration) (won bool) {
	switch {
	case r.votes == 0:
		*r = rival{span: span{elapsed, ahead}, first: ahead, votes: 1}
		return false
	case ahead < r.first-late || ahead > r.first+spread:
		r.votes--
		return false
	}
	r.votes, r.ahead = min(r.votes+1, maxVotes), max(r.ahead, ahead)
	least := behindToWin
	if r.ahead > clock {
		least = aheadToWin
	}
	return r.votes >= votesToWin && elapsed-r.began >= least
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

// observe records a stamp with the given lead over the monotonic clock. It reports whether that set
// the clock back in one step.
func (c *Chat) observe(ahead, elapsed time.Duration) (setBack bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.aheadAt(elapsed)
	switch {
	case !c.seen:
		c.set(ahead, elapsed)
	case was-late <= ahead && ahead <= was+early:
		c.rival.oppose()
		c.follow(was, ahead, elapsed)
	case c.rival.vote(was, ahead, elapsed):
		c.set(c.rival.ahead, elapsed)
	}
	return c.aheadAt(elapsed) < was
}

// set sets the clock. The caller holds mu.
func (c *Chat) set(ahead, elapsed time.Duration) {
	c.seen, c.ahead, c.since, c.rival = true, ahead, elapsed, rival{}
	c.recent = span{elapsed, ahead}
	c.before = c.recent
}

// follow records a stamp that agrees with the clock, whose lead is was. The caller holds mu.
func (c *Chat) follow(was, ahead, elapsed time.Duration) {
	c.ahead, c.since = was, elapsed // keep the lead before it shrinks
	if elapsed-c.recent.began > recently {
		c.before, c.recent = c.recent, span{elapsed, ahead}
	}
	c.recent.ahead = max(c.recent.ahead, ahead)
}

// aheadAt returns the chat's lead over the monotonic clock. It is never less than the largest lead
// of the recent stamps that agreed with the clock. The caller holds mu.
func (c *Chat) aheadAt(elapsed time.Duration) time.Duration {
	if !c.seen {
		return 0
	}
	return max(c.recent.ahead, c.before.ahead, c.ahead-(elapsed-c.since)/slewBack)
}
