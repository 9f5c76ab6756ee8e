package limits

import (
	"fmt"
	"math"
	"time"
)

// slidingWindow allows a number of messages in the last period of every. It estimates the usage from
// counts. The clock divides time into slices of every ÷ slices, by default of every. The counts of
// the slices within the period count whole. Of the oldest slice, only a part lies in the period, and
// as large a part of its count counts. With one slice, that is the approximation that Cloudflare
// described in 2017: the current window, and a part of the previous one. Slices begin at multiples
// of their duration since the Unix epoch. The estimate is compared exactly, without rounding.
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
			return fmt.Errorf("every is %s, which %d slices don't divide into whole nanoseconds: want another number of slices", p.Every, r.slices)
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
		w := r.slidingAt(state, at)
		room := r.capacity - w.whole() - n // left for the oldest slice
		for room < 0 {
			w.pass(1)
			room += w.oldest() // it no longer counts whole
		}
		oldest := w.oldest()
		if room >= oldest {
			return max(at, w.start)
		}
		left, _ := scale(room, r.slice, oldest)
		return max(at, w.start+r.slice-left)
	},

	spend: func(r *Rule, state []uint64, at, n int64) level {
		w := r.slide(state, at)
		w.setCurrent(w.count(0) + n)
		return w.level(at)
	},

	overdraw: func(r *Rule, state []uint64, at, n int64) {
		w := r.slide(state, at)
		w.setCurrent(addCapped(w.count(0), n, math.MaxUint32))
	},

	charge: func(r *Rule, state []uint64, at, n int64) (counted int64) {
		w := r.slide(state, at)
		whole := w.whole()
		counted = addCapped(whole, n, r.capacity) - whole
		w.setCurrent(w.count(0) + counted)
		return counted
	},

	// Keep the slice in which the last use was. A later slice would begin after the last use.
	refund: func(r *Rule, state []uint64, back spentMessage, at int64) {
		w := sliding{rule: r, words: state, start: int64(state[0])}
		ago := int64(0) // how many slices before the current one the message was
		if back.at < w.start {
			ago = (w.start-back.at-1)/r.slice + 1
		}
		left := int64(r.slices) + 1 - ago // how many slices it counts in from w.start on
		if back.at < w.start+r.slice && left > 0 && at < w.start+left*r.slice {
			i := int(ago)
			w.set(i, max(0, w.count(i)-back.n))
			w.setCurrent(w.count(0))
		}
	},

	level: func(r *Rule, state []uint64, at int64) level {
		w := r.slidingAt(state, at)
		return w.level(at)
	},

	picture: pictureOfSliding,

	expiry: func(r *Rule, state []uint64) int64 {
		w := sliding{rule: r, words: state, start: int64(state[0])}
		return w.expiry()
	},

	// The slice of the last use is replaced by the slice that contains at, and keeps its count, as do
	// the others. The usage from the oldest slice stays as it was at the last use, wherever at is in
	// its slice.
	rewind: func(r *Rule, state []uint64, last, at int64) {
		w := r.slide(state, last)
		left := w.start + r.slice - last
		w.start = r.startOfSlice(at)
		w.set(r.slices, min(scaleUp(w.oldest(), left, w.start+r.slice-at), math.MaxUint32))
		w.setCurrent(w.count(0))
	},

	convert: func(old, r *Rule, before, state []uint64, at int64) {
		if old.interval == r.interval && old.slices == r.slices {
			copy(state, before)
			return
		}
		used := old.slidingAt(before, at)
		w := sliding{rule: r, words: state, start: r.startOfSlice(at)}
		w.setCurrent(min(used.usage(at), math.MaxUint32))
	},
}

// maxSlices is the maximum number of slices of a sliding window.
const maxSlices = 60

// slicedWindow is a sliding window of two slices or more. Its stored usage has a code of its own,
// which the number of slices goes with.
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

// sliding is a user's state in a sliding window, at some time.
type sliding struct {
	rule   *Rule
	words  []uint64
	start  int64 // of the current slice at that time
	passed int   // how many slices the words are older
}

// slidingAt returns the state at a time. It does not change the words.
func (r *Rule) slidingAt(state []uint64, at int64) sliding {
	w := sliding{rule: r, words: state, start: int64(state[0])}
	switch since := at - w.start; {
	case since < r.slice:
	case since < r.slice*int64(r.slices+1):
		w.pass(int(since / r.slice))
	default:
		w.start, w.passed = r.startOfSlice(at), r.slices+1
	}
	return w
}

// slide moves the counts in the words so that they are those at a time.
func (r *Rule) slide(state []uint64, at int64) sliding {
	w := r.slidingAt(state, at)
	if w.passed > 0 {
		moved := w
		moved.passed = 0
		for i := r.slices; i >= 0; i-- {
			moved.set(i, w.count(i))
		}
		return moved
	}
	return w
}

// pass lets n slices pass.
func (w *sliding) pass(n int) {
	w.start += int64(n) * w.rule.slice
	w.passed += n
}

// count returns the count of the slice that was current i slices ago.
func (w *sliding) count(i int) int64 {
	if i -= w.passed; i < 0 {
		return 0
	}
	return int64(uint32(w.words[1+i/2] >> halfOf(i)))
}

// set sets that count in the words, which must not be older. setCurrent must follow.
func (w *sliding) set(i int, count int64) {
	word := &w.words[1+i/2]
	*word = *word&^(math.MaxUint32<<halfOf(i)) | uint64(count)<<halfOf(i)
}

// halfOf returns by how many bits a count is shifted in its word.
func halfOf(i int) int { return 32 * (1 - i%2) }

// setCurrent sets the count of the current slice, and its start. If nothing counts, it sets all
// words to zero.
func (w *sliding) setCurrent(count int64) {
	w.set(0, count)
	w.words[0] = uint64(w.start)
	if w.isEmpty() {
		w.words[0] = 0
	}
}

func (w *sliding) isEmpty() bool { return len(trim(w.words[1:w.rule.words])) == 0 }

// whole returns the sum of the counts that count whole.
func (w *sliding) whole() (sum int64) {
	for i := w.passed; i < w.rule.slices; i++ {
		sum += w.count(i)
	}
	return sum
}

// oldest returns the count of the slice of which only a part counts.
func (w *sliding) oldest() int64 { return w.count(w.rule.slices) }

// usage returns the usage at a time in the current slice, rounded up.
func (w *sliding) usage(at int64) int64 {
	left := min(w.start+w.rule.slice-at, w.rule.slice)
	return w.whole() + scaleUp(w.oldest(), left, w.rule.slice)
}

func (w *sliding) level(at int64) level {
	return level{w.usage(at), w.rule.capacity, max(at, w.expiry())}
}

// expiry returns when the newest message stops counting; 0 if none counts.
func (w *sliding) expiry() int64 {
	for i := w.passed; i <= w.rule.slices; i++ {
		if w.count(i) > 0 {
			return w.start + int64(w.rule.slices+1-i)*w.rule.slice
		}
	}
	return 0
}
