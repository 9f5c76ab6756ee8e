package web

import (
	"time"

	"github.com/chatguard/chatguard/internal/journal"
)

// span is a stretch of time up to now, and the steps in which rates tell of it.
type span struct {
	name  string
	step  time.Duration
	steps int
}

// spans are those that are remembered, in 26 kB for each channel.
var spans = [...]span{
	{"hour", 5 * time.Second, 720},
	{"day", time.Minute, 1440},
}

// counted is what a channel's history says of one step.
type counted struct{ messages, throttled, observed uint32 }

// history is what a tally remembers of each span: rings, in which a step has the place that the calendar gives it.
type history [len(spans)][]counted

func (c counted) plus(d counted) counted {
	return counted{c.messages + d.messages, c.throttled + d.throttled, c.observed + d.observed}
}

func newHistory() (h history) {
	for i, s := range spans {
		h[i] = make([]counted, s.steps+1)
	}
	return h
}

// calendar says which steps of a span the histories tell of. Steps are numbered from 1970 on.
type calendar struct {
	span
	began int64  // the step in which counting began, which is not known as a whole
	now   int64  // the step under way
	known []bool // by place
}

func newCalendar(s span, now time.Time) *calendar {
	c := &calendar{span: s, known: make([]bool, s.steps+1)}
	c.now = c.at(now)
	c.began = c.now
	return c
}

// at is the step that a time is in.
func (c *calendar) at(t time.Time) int64 { return t.UnixNano() / int64(c.step) }

// place is where a ring has a step.
func (c *calendar) place(step int64) int { return int(step % int64(len(c.known))) }

// first is the first step that is told of.
func (c *calendar) first() int64 { return c.now - int64(c.steps) }

// advance goes on to the step that a time is in, and hands the places to be emptied to free. What was passed over, because nobody counted
// then or the clock was set, isn't known.
func (c *calendar) advance(t time.Time, free func(place int)) {
	next := c.at(t)
	for step := max(next+1, c.now-int64(c.steps)); step <= c.now; step++ {
		c.known[c.place(step)] = false // the clock was set back
	}
	for step := max(c.now+1, next-int64(c.steps)); step <= next; step++ {
		c.known[c.place(step)] = next == c.now+1
		free(c.place(step))
	}
	c.now = next
}

// minute returns the steps of a minute that was over before counting began, as far as they are told of: from the first to before the end.
func (c *calendar) minute(t time.Time) (first, end int64) {
	first = c.at(t.Truncate(time.Minute))
	end = first + c.perMinute()
	if began := c.began - c.began%c.perMinute(); end > began {
		return first, first
	}
	return first, end
}

func (c *calendar) perMinute() int64 { return int64(time.Minute / c.step) }

// recall takes note that everything is known from a step on that was over before counting began.
func (c *calendar) recall(first int64) {
	for step := max(first, c.first()); step < c.began-c.began%c.perMinute(); step++ {
		if c.known[c.place(step)] {
			return // and so is the rest
		}
		c.known[c.place(step)] = true
	}
}

// share is the part of a minute's count that one of its steps has, such that they add up.
func share(n uint32, step, steps int64) uint32 {
	return uint32(int64(n)*(step+1)/steps - int64(n)*step/steps)
}

// remember adds what was counted in a minute before counting began here; in steps shorter than that it is spread evenly.
func (t *tallies) remember(m journal.Minute) {
	counts := t.of(m.ChannelID)
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, c := range t.calendars {
		first, end := c.minute(m.At)
		c.recall(first)
		for step := max(first, c.first()); step < end; step++ {
			to, n := &counts.history[i][c.place(step)], step-first
			to.messages += share(m.Messages, n, c.perMinute())
			to.throttled += share(m.Throttled, n, c.perMinute())
			to.observed += share(m.Observed, n, c.perMinute())
		}
	}
}
