package limits

import (
	"math"
	"time"
)

// slidingWindow allows a number of messages in the last period of every. It estimates the usage
// from two counts: the count of the current window, and the count of the previous window, reduced
// by the share of that window that is older than every. Cloudflare described this approximation in
// 2017. Windows begin at multiples of every since the Unix epoch. The estimate is compared exactly,
// without rounding.
//
// The words: start of the window; its count << 32 | the count of the previous window.
var slidingWindow = algorithm{
	name:   "sliding-window",
	code:   6,
	size:   2,
	params: windowParameters(100, time.Hour),

	compile: compileWindow,

	isValid: func(old *Rule, state []uint64, last int64) bool {
		return len(state) == 2 && old.interval > 0 && old.interval < maxEvery && state[0] <= uint64(last)
	},

	next: func(r *Rule, state []uint64, at, n int64) int64 {
		if n > r.capacity {
			return Never
		}
		w := r.slidingAt(state, at)
		room := r.capacity - w.count - n // left for the rest of the previous window
		if room < 0 {
			w, room = slidingState{start: w.start + r.interval, before: w.count}, r.capacity-n
		}
		if room >= w.before {
			return max(at, w.start)
		}
		left, _ := scale(room, r.interval, w.before)
		return max(at, w.start+r.interval-left)
	},

	spend: func(r *Rule, state []uint64, at, n int64) level {
		w := r.slidingAt(state, at)
		w.count += n
		w.store(state)
		return r.slidingLevel(w, at)
	},

	overdraw: func(r *Rule, state []uint64, at, n int64) {
		w := r.slidingAt(state, at)
		w.count = addCapped(w.count, n, math.MaxUint32)
		w.store(state)
	},

	charge: func(r *Rule, state []uint64, at, n int64) (counted int64) {
		w := r.slidingAt(state, at)
		before := w.count
		w.count = addCapped(w.count, n, r.capacity)
		w.store(state)
		return w.count - before
	},

	// Keep the window in which the last use was. A later window would begin after the last use.
	refund: func(r *Rule, state []uint64, back spentMessage, at int64) {
		w := loadSliding(state)
		switch {
		case at >= w.start+2*r.interval || back.at >= w.start+r.interval:
			return
		case back.at >= w.start:
			w.count = max(0, w.count-back.n)
		case back.at >= w.start-r.interval:
			w.before = max(0, w.before-back.n)
		}
		w.store(state)
	},

	level: func(r *Rule, state []uint64, at int64) level { return r.slidingLevel(r.slidingAt(state, at), at) },

	picture: pictureOfSliding,

	expiry: func(r *Rule, state []uint64) int64 { return r.slidingExpiry(loadSliding(state)) },

	// The window of the last use is replaced by the window that contains at, and keeps its count.
	// The usage from the previous window stays as it was at the last use, wherever at is in its
	// window.
	rewind: func(r *Rule, state []uint64, last, at int64) {
		w := r.slidingAt(state, last)
		start := r.startOfFixed(at)
		before := scaleUp(w.before, w.start+r.interval-last, start+r.interval-at)
		slidingState{start: start, count: w.count, before: min(before, math.MaxUint32)}.store(state)
	},

	convert: func(old, r *Rule, before, state []uint64, at int64) {
		if old.interval == r.interval {
			copy(state, before)
			return
		}
		used := old.slidingUsage(old.slidingAt(before, at), at)
		slidingState{start: r.startOfFixed(at), count: used}.store(state)
	},
}

// slidingState is a user's state in a sliding window.
type slidingState struct{ start, count, before int64 }

func loadSliding(state []uint64) slidingState {
	return slidingState{start: int64(state[0]), count: int64(state[1] >> 32), before: int64(uint32(state[1]))}
}

// store writes the state; for an empty state it writes zero words.
func (w slidingState) store(state []uint64) {
	if w.count == 0 && w.before == 0 {
		w.start = 0
	}
	state[0], state[1] = uint64(w.start), uint64(w.count)<<32|uint64(w.before)
}

// slidingAt returns the state in the window that contains the time.
func (r *Rule) slidingAt(state []uint64, at int64) slidingState {
	w := loadSliding(state)
	switch since := at - w.start; {
	case since < r.interval:
		return w
	case since < 2*r.interval:
		return slidingState{start: w.start + r.interval, before: w.count}
	}
	return slidingState{start: r.startOfFixed(at)}
}

// slidingUsage returns the usage at a time in the window w, rounded up.
func (r *Rule) slidingUsage(w slidingState, at int64) int64 {
	left := min(w.start+r.interval-at, r.interval)
	return w.count + scaleUp(w.before, left, r.interval)
}

func (r *Rule) slidingLevel(w slidingState, at int64) level {
	return level{r.slidingUsage(w, at), r.capacity, max(at, r.slidingExpiry(w))}
}

func (r *Rule) slidingExpiry(w slidingState) int64 {
	switch {
	case w.count > 0:
		return w.start + 2*r.interval
	case w.before > 0:
		return w.start + r.interval
	}
	return 0
}
