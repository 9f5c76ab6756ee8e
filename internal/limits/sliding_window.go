package limits

import (
	"math"
	"time"
)

// slidingWindow allows a number of messages in the period of the duration every that ends now. It
// estimates the usage from counts. Time is divided into slices of the duration every ÷ slices. The
// counts of the slices within the period count in full. Only a part of the oldest slice lies in the
// period, and the same fraction of its count counts. With one slice, the default, this is the
// approximation that Cloudflare described in 2017: the current window, and a part of the previous
// one. Slices begin at multiples of their duration since the Unix epoch. The estimate is compared
// exactly, without rounding.
//
// The words: start of the current slice; then the counts of 32 bits, two in a word, the high half
// first: of the current slice, of the one before it, and so on.
var slidingWindow = algorithm{
	name:   "sliding-window",
	code:   6,
	size:   2,
	params: append(windowParameters(100, time.Hour), Parameter{Name: "slices", Kind: Count, Least: 1, Most: maxSlices, Suggested: 1}),

	compile: func(p Params, r *Rule) error {
		if err := compileWindow(p, r); err != nil {
			return err
		}
		r.setSlices(max(1, p.Slices))
		if r.slice*int64(r.slices) != r.interval {
			return MistakeIn("slices", p.Slices, "every is %s, which %d slices don't divide into whole nanoseconds: want another number of slices", p.Every, r.slices)
		}
		return nil
	},

	isValid: func(old *Rule, state []uint64, last int64) bool {
		return old.interval > 0 && old.interval < maxEvery && old.slice > 0 && len(state) == old.words && state[0] <= uint64(last)
	},

	next: func(r *Rule, state []uint64, at, n int64) int64 {
		if n > r.capacity {
			return Never
		}
		start, passed := r.sliceAt(state, at)
		room := r.capacity - r.countWhole(state, passed) - n // left for the oldest slice
		oldest := r.oldest(state, passed)
		for room < 0 {
			start, passed = start+r.slice, passed+1
			oldest = r.oldest(state, passed)
			room += oldest // it no longer counts in full
		}
		if room >= oldest {
			return max(at, start)
		}
		left, _ := scale(room, r.slice, oldest)
		return max(at, start+r.slice-left)
	},

	spend: func(r *Rule, state []uint64, at, n int64) level {
		start := r.slide(state, at)
		r.setCurrent(state, start, countOf(state, 0)+n)
		return r.slidingLevel(state, start, 0, at)
	},

	overdraw: func(r *Rule, state []uint64, at, n int64) {
		start := r.slide(state, at)
		r.setCurrent(state, start, addCapped(countOf(state, 0), n, math.MaxUint32))
	},

	add: func(r *Rule, state, other []uint64, at int64) {
		start := r.slide(state, at)
		r.slide(other, at)
		for i := range r.slices + 1 {
			setCount(state, i, addCapped(countOf(state, i), countOf(other, i), math.MaxUint32))
		}
		r.setCurrent(state, start, countOf(state, 0))
	},

	charge: func(r *Rule, state []uint64, at, n int64) (counted int64) {
		start := r.slide(state, at)
		whole := r.countWhole(state, 0)
		counted = addCapped(whole, n, r.capacity) - whole
		r.setCurrent(state, start, countOf(state, 0)+counted)
		return counted
	},

	// Keep the slice in which the last use was. A later slice would begin after the last use.
	refund: func(r *Rule, state []uint64, back spentMessage, at int64) {
		start, ago := int64(state[0]), int64(0) // ago: how many slices before that one the message was
		if back.at < start {
			ago = (start-back.at-1)/r.slice + 1
		}
		left := int64(r.slices) + 1 - ago // how many slices it counts in from start on
		if back.at < start+r.slice && left > 0 && at < start+left*r.slice {
			setCount(state, int(ago), max(0, countOf(state, int(ago))-back.n))
			r.setCurrent(state, start, countOf(state, 0))
		}
	},

	level: func(r *Rule, state []uint64, at int64) level {
		start, passed := r.sliceAt(state, at)
		return r.slidingLevel(state, start, passed, at)
	},

	picture: pictureOfSliding,

	expiry: func(r *Rule, state []uint64) int64 { return r.slidingExpiry(state, int64(state[0]), 0) },

	// The slice of the last use is replaced by the slice that contains at, and keeps its count, as
	// do the others. The usage from the oldest slice stays as it was at the last use, wherever at
	// is in its slice. This usage is rounded down to what whole messages of that slice count, so
	// that everything that fitted still fits.
	rewind: func(r *Rule, state []uint64, last, at int64) {
		left := r.slide(state, last) + r.slice - last
		start := r.startOfSlice(at)
		share, _ := scale(r.oldest(state, 0), left, start+r.slice-at)
		setCount(state, r.slices, min(share, math.MaxUint32))
		r.setCurrent(state, start, countOf(state, 0))
	},

	convert: func(old, r *Rule, before, state []uint64, at int64) {
		if old.interval == r.interval && old.slices == r.slices {
			copy(state, before)
			return
		}
		start, passed := old.sliceAt(before, at)
		r.setCurrent(state, r.startOfSlice(at), min(old.slidingUsage(before, start, passed, at), math.MaxUint32))
	},
}

// maxSlices is the maximum number of slices of a sliding window.
const maxSlices = 60

// slicedWindow is a sliding window of two slices or more. Its stored usage has a different code,
// and includes the number of slices.
var slicedWindow = func() algorithm {
	a := slidingWindow
	a.code, a.size, a.more = 9, 0, 1
	return a
}()

// setSlices sets the number of slices, and what follows from it. The interval must be set.
func (r *Rule) setSlices(n int64) {
	n = min(max(1, n), maxSlices)
	r.slices, r.slice, r.words = int(n), r.interval/n, 1+int(n+2)/2
}

func (r *Rule) startOfSlice(at int64) int64 { return at - at%r.slice }

// sliceAt returns the start of the slice that contains a time, and how many slices passed since the
// one that is current in the state, at most slices + 1.
func (r *Rule) sliceAt(state []uint64, at int64) (start int64, passed int) {
	start = int64(state[0])
	switch since := at - start; {
	case since < r.slice:
		return start, 0
	case since < 2*r.slice: // saves windows of one slice a division
		return start + r.slice, 1
	case since < r.slice*int64(r.slices+1):
		passed = int(since / r.slice)
		return start + int64(passed)*r.slice, passed
	}
	return r.startOfSlice(at), r.slices + 1
}

// slide makes the slice that contains a time the current one of the state, and returns its start.
func (r *Rule) slide(state []uint64, at int64) (start int64) {
	start, passed := r.sliceAt(state, at)
	for i := r.slices; passed > 0 && i >= 0; i-- {
		setCount(state, i, countOf(state, i-passed))
	}
	return start
}

// countOf returns the count of the slice i slices before the current one. It returns 0 if i is
// negative.
func countOf(state []uint64, i int) int64 {
	if i < 0 {
		return 0
	}
	return int64(uint32(state[1+uint(i)/2] >> halfOf(i)))
}

// setCount sets the count that countOf returns. setCurrent must follow.
func setCount(state []uint64, i int, count int64) {
	word := &state[1+uint(i)/2]
	*word = *word&^(math.MaxUint32<<halfOf(i)) | uint64(count)<<halfOf(i)
}

// halfOf returns by how many bits a count is shifted in its word.
func halfOf(i int) uint { return uint(^i&1) << 5 & 63 }

// setCurrent sets the count of the current slice, and its start. If nothing counts, it sets all
// words to zero.
func (r *Rule) setCurrent(state []uint64, start, count int64) {
	setCount(state, 0, count)
	if state[0] = uint64(start); count == 0 && len(trim(state[1:])) == 0 {
		state[0] = 0
	}
}

// countWhole returns the sum of the counts that count in full after passed slices.
func (r *Rule) countWhole(state []uint64, passed int) (sum int64) {
	for i := r.slices - 1 - passed; i >= 0; i-- {
		sum += countOf(state, i)
	}
	return sum
}

// oldest returns the count of the slice of which only a part counts after passed slices.
func (r *Rule) oldest(state []uint64, passed int) int64 { return countOf(state, r.slices-passed) }

// slidingUsage returns the usage at a time, rounded up. start and passed are what sliceAt returns.
func (r *Rule) slidingUsage(state []uint64, start int64, passed int, at int64) int64 {
	left := min(start+r.slice-at, r.slice)
	return r.countWhole(state, passed) + scaleUp(r.oldest(state, passed), left, r.slice)
}

func (r *Rule) slidingLevel(state []uint64, start int64, passed int, at int64) level {
	return level{r.slidingUsage(state, start, passed, at), r.capacity, max(at, r.slidingExpiry(state, start, passed))}
}

// slidingExpiry returns when the newest message stops counting; 0 if none counts.
func (r *Rule) slidingExpiry(state []uint64, start int64, passed int) int64 {
	for i := range r.slices + 1 - passed {
		if countOf(state, i) > 0 {
			return start + int64(r.slices+1-passed-i)*r.slice
		}
	}
	return 0
}
