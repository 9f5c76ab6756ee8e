package limits

import "time"

// userWindow allows a number of messages in a period that begins with the user's first message
// after the previous period.
//
// The words: start of the window, count.
var userWindow = countedWindow((*Rule).userWindowAt, algorithm{
	name:   "user-window",
	code:   5,
	size:   2,
	params: windowParameters(30, 5*time.Minute),

	level: func(r *Rule, state []uint64, at int64) level {
		start, count := r.userWindowAt(state, at)
		if count == 0 {
			return level{0, r.capacity, at}
		}
		return level{count, r.capacity, start + r.interval}
	},

	picture: func(r *Rule, state []uint64, at int64) Picture {
		start, count := r.userWindowAt(state, at)
		if count == 0 {
			return Picture{}
		}
		return pictureOfWindow(r, start, count)
	},

	// In a window of another length, the elapsed fraction of the window stays the same.
	convert: func(old, r *Rule, before, state []uint64, at int64) {
		if old.interval == r.interval {
			copy(state, before)
			return
		}
		start, count := old.userWindowAt(before, at)
		gone, _ := scale(at-start, r.interval, old.interval)
		state[1] = before[1]
		r.setWindow(state, max(0, at-gone), count)
	},

	windowEnd: func(r *Rule, state []uint64, at int64) int64 {
		if start, count := r.userWindowAt(state, at); count > 0 {
			return start + r.interval
		}
		return 0
	},
})

// userWindowAt returns the window that contains the time, and its count. If no window is open, it
// returns a new window.
func (r *Rule) userWindowAt(state []uint64, at int64) (start, count int64) {
	if start := int64(state[0]); state[1] > 0 && at < start+r.interval {
		return start, countIn(state[1])
	}
	return r.laterUserWindow(state, at)
}

// laterUserWindow is userWindowAt for a window after the one in the row.
func (r *Rule) laterUserWindow(state []uint64, at int64) (start, count int64) {
	if state[1]&overdrawnFlag != 0 {
		start = int64(state[0])
		past := (at - start) / r.interval * r.interval
		if count = r.carried(state, past); count > 0 {
			return start + past, count
		}
	}
	return at, 0
}
