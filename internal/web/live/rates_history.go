package live

import (
	"time"

	"github.com/chatguard/chatguard/internal/journal"
)

// ring is a period that ends now. It is divided into steps, and each step has its own counts.
type ring struct {
	step  time.Duration
	steps int
}

// rings are the periods kept in memory. They take 35 kB per channel. The fine ring counts messages
// when they arrive. The ring of whole minutes counts them by their own times, as the store does, so
// that a minute has the same count before and after a restart.
var rings = [...]ring{
	fine:    {5 * time.Second, 720},
	minutes: {time.Minute, 1440},
}

// The indexes of rings.
const (
	fine = iota
	minutes
)

// stepCounts are a channel's counts in one step.
type stepCounts struct{ messages, throttled, observed, low uint32 }

// history holds a tally's counts, in one ring per span. The calendar gives the position of a step
// in its ring.
type history [len(rings)][]stepCounts

func (c stepCounts) add(d stepCounts) stepCounts {
	return stepCounts{c.messages + d.messages, c.throttled + d.throttled, c.observed + d.observed, c.low + d.low}
}

func newHistory() (h history) {
	for i, r := range rings {
		h[i] = make([]stepCounts, r.steps+1)
	}
	return h
}

// calendar says for which steps of a ring the histories have data. Steps are numbered from 1970.
type calendar struct {
	ring
	began int64  // first step counted
	now   int64  // the current step
	known []bool // by place in the ring
}

func newCalendar(r ring, now time.Time) *calendar {
	c := &calendar{ring: r, known: make([]bool, r.steps+1)}
	c.now = c.stepAt(now)
	c.began = c.now
	c.known[c.place(c.now)] = true
	return c
}

// stepAt returns the step of a time.
func (c *calendar) stepAt(t time.Time) int64 { return t.UnixNano() / int64(c.step) }

// place returns the index of a step in a ring.
func (c *calendar) place(step int64) int { return int(step % int64(len(c.known))) }

// first returns the first step that is reported.
func (c *calendar) first() int64 { return c.now - int64(c.steps) }

// advance moves to the step that contains a time. It calls free for each place that must be
// emptied. A skipped step is unknown: nothing was counted in it, or the clock was set.
func (c *calendar) advance(t time.Time, free func(place int)) {
	next := c.stepAt(t)
	for step := max(next+1, c.now-int64(c.steps)); step <= c.now; step++ {
		c.known[c.place(step)] = false // the clock was set back
	}
	for step := max(c.now+1, next-int64(c.steps)); step <= next; step++ {
		c.known[c.place(step)] = next == c.now+1
		free(c.place(step))
	}
	c.now = next
}

// minuteSteps returns the steps of a minute from before this process began to count, as the
// half-open range [first, end). If counting began within the minute's first step, the range has
// that step. If the minute is later, the range is empty.
func (c *calendar) minuteSteps(t time.Time) (first, end int64) {
	first = c.stepAt(t.Truncate(time.Minute))
	if first > c.began {
		return first, first
	}
	return first, max(first+1, min(first+c.stepsPerMinute(), c.began))
}

func (c *calendar) stepsPerMinute() int64 { return int64(time.Minute / c.step) }

// markKnown marks the steps from first on as known if they ended before this process began to
// count.
func (c *calendar) markKnown(first int64) {
	for step := max(first, c.first()); step < c.began; step++ {
		if c.known[c.place(step)] {
			return // all later steps are known too
		}
		c.known[c.place(step)] = true
	}
}

// share returns the part of a minute's count that belongs to one of its steps. The shares of all
// steps add up to n.
func share(n uint32, step, steps int64) uint32 {
	return uint32(int64(n)*(step+1)/steps - int64(n)*step/steps)
}

// remember adds the counts of a minute from before this process began to count. If steps are
// shorter than a minute, it spreads the counts evenly.
func (t *tallies) remember(m journal.Minute) {
	counts := t.tally(m.ChannelID)
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, c := range t.calendars {
		first, end := c.minuteSteps(m.At)
		c.markKnown(first)
		for step := max(first, c.first()); step < end; step++ {
			to, n := &counts.history[i][c.place(step)], step-first
			to.messages += share(m.Messages, n, end-first)
			to.throttled += share(m.Throttled, n, end-first)
			to.observed += share(m.Observed, n, end-first)
			to.low += share(m.Low, n, end-first)
		}
	}
}
