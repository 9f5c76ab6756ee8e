package live

import (
	"sync/atomic"
	"time"
)

// recentMinutes counts the messages of the minute before the current one, of the current one, and
// of the next one, by their own times. Counting takes no lock.
type recentMinutes [4]minuteCounts // by the minute's number modulo 4

// minuteCounts are the counts of a minute that are not in the history yet.
type minuteCounts struct{ messages, throttled, observed, low atomic.Uint32 }

// minute returns the counts of the minute of a time. A time that is too early or too late counts in
// the nearest minute. The parameter now is the number of the current minute.
func (r *recentMinutes) minute(at time.Time, now int64) *minuteCounts {
	return r.numbered(min(max(at.Unix()/60, now-1), now+1))
}

func (r *recentMinutes) numbered(minute int64) *minuteCounts {
	return &r[uint64(minute)%uint64(len(r))]
}

// take returns the counts and sets them to zero.
func (m *minuteCounts) take() stepCounts {
	return stepCounts{m.messages.Swap(0), m.throttled.Swap(0), m.observed.Swap(0), m.low.Swap(0)}
}

// addRecent adds the recent counts to the history. If the clock was set, all of them belong to the
// current minute, so that none is left for a later one.
func (t *tally) addRecent(c *calendar, now time.Time) {
	add := func(minute int64, counts stepCounts) {
		step := &t.history[minutes][c.place(minute)]
		*step = step.add(counts)
	}
	add(c.now, t.recent.numbered(c.now).take())
	if before := c.now - 1; c.known[c.place(before)] {
		add(before, t.recent.numbered(before).take())
	} else {
		add(c.now, t.recent.numbered(before).take())
	}
	if next := c.stepAt(now); next != c.now && next != c.now+1 {
		add(c.now, t.recent.numbered(c.now+1).take())
	}
}
