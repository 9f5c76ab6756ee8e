package limits

import "time"

// fixedWindow allows a number of messages in each period between two multiples of every since the
// Unix epoch. Up to twice that number can pass within a short time around a boundary.
//
// The words: start of the window, count.
var fixedWindow = countedWindow((*Rule).fixedAt, algorithm{
	name:   "fixed-window",
	code:   4,
	size:   2,
	params: windowParameters(20, time.Minute),

	level: func(r *Rule, state []uint64, at int64) level {
		start, count := r.fixedAt(state, at)
		return level{count, r.capacity, start + r.interval}
	},

	picture: func(r *Rule, state []uint64, at int64) Picture {
		start, count := r.fixedAt(state, at)
		return pictureOfWindow(r, start, count)
	},

	convert: func(old, r *Rule, before, state []uint64, at int64) {
		if old.interval == r.interval {
			copy(state, before)
			return
		}
		_, count := old.fixedAt(before, at)
		state[1] = before[1]
		r.setWindow(state, r.startOfFixed(at), count)
	},

	raise: func(r *Rule, state, other []uint64, at int64) {
		_, count := r.fixedAt(state, at)
		if start, higher := r.fixedAt(other, at); higher > count {
			state[1] |= overdrawnFlag
			r.setWindow(state, start, higher)
		}
	},

	windowEnd: func(r *Rule, _ []uint64, at int64) int64 { return r.startOfFixed(at) + r.interval },
})

func (r *Rule) startOfFixed(at int64) int64 { return at - at%r.interval }

// fixedAt returns the window that contains the time, and its count.
func (r *Rule) fixedAt(state []uint64, at int64) (start, count int64) {
	if start := int64(state[0]); at < start+r.interval {
		return start, countIn(state[1])
	}
	return r.laterFixed(state, at)
}

// laterFixed is fixedAt for a window after the one in the row.
func (r *Rule) laterFixed(state []uint64, at int64) (start, count int64) {
	start = r.startOfFixed(at)
	return start, r.carried(state, start-int64(state[0]))
}
