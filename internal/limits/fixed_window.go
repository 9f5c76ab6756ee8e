package limits

// fixedWindow allows a number of messages in each stretch of time between two multiples of every since the Unix epoch. Around such a
// moment twice the number can pass.
//
// The words: start of the window, count.
var fixedWindow = algorithm{
	name:   "fixed-window",
	code:   4,
	params: []string{"messages", "every"},

	compile: compileWindow,
	sound:   soundWindow,

	next: func(r *Rule, state []uint64, at, n int64) int64 {
		start, count := r.fixedAt(state, at)
		switch {
		case n > r.capacity:
			return Never
		case n > r.capacity-count:
			return start + r.interval
		}
		return at
	},

	spend: func(r *Rule, state []uint64, at, _, n int64) level {
		start, count := r.fixedAt(state, at)
		setWindow(state, start, count+n)
		return level{count + n, r.capacity, start + r.interval}
	},

	charge: func(r *Rule, state []uint64, at, n int64) (counted int64) {
		start, count := r.fixedAt(state, at)
		more := plus(count, n, r.capacity)
		setWindow(state, start, more)
		return more - count
	},

	refund: func(r *Rule, state []uint64, back spent, at int64) {
		if start, count := r.fixedAt(state, at); back.at >= start {
			setWindow(state, start, max(0, count-back.n))
		}
	},

	level: func(r *Rule, state []uint64, at int64) level {
		start, count := r.fixedAt(state, at)
		return level{count, r.capacity, start + r.interval}
	},

	forgotten: forgottenWindow,

	rewind: func(r *Rule, state []uint64, _, at int64) {
		if int64(state[0]) > at {
			state[0] = uint64(r.startOfFixed(at))
		}
	},

	convert: func(old, r *Rule, before, state []uint64, at int64) {
		if old.interval == r.interval {
			copy(state, before)
			return
		}
		_, count := old.fixedAt(before, at)
		setWindow(state, r.startOfFixed(at), count)
	},

	windowEnd: func(r *Rule, _ []uint64, at int64) int64 { return r.startOfFixed(at) + r.interval },
}

func (r *Rule) startOfFixed(at int64) int64 { return at - at%r.interval }

// fixedAt returns the window that contains the time, and what counts in it.
func (r *Rule) fixedAt(state []uint64, at int64) (start, count int64) {
	if start := int64(state[0]); at < start+r.interval {
		return start, int64(state[1])
	}
	return r.startOfFixed(at), 0
}

// What the windows with a start and a count have in common.

func compileWindow(p Params, r *Rule) error {
	if err := checkCount("messages", p.Messages, MaxMessages); err != nil {
		return err
	}
	r.capacity, r.interval, r.words = p.Messages, int64(p.Every), 2
	return checkEvery(p.Every)
}

func soundWindow(old *Rule, state []uint64, last int64) bool {
	return len(state) == 2 && old.interval > 0 && old.interval < maxEvery && state[0] <= uint64(last) && state[1] <= MaxMessages
}

// setWindow stores a window; one without messages is none.
func setWindow(state []uint64, start, count int64) {
	if count == 0 {
		start = 0
	}
	state[0], state[1] = uint64(start), uint64(count)
}

func forgottenWindow(r *Rule, state []uint64) int64 {
	if state[1] == 0 {
		return 0
	}
	return int64(state[0]) + r.interval
}
