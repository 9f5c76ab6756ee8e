package limits

import "time"

// countedWindow completes an algorithm whose state is the start of a window and its count. present
// returns the window that contains a time.
func countedWindow(present func(r *Rule, state []uint64, at int64) (start, count int64), a algorithm) algorithm {
	a.compile, a.isValid, a.expiry = compileWindow, isValidWindow, windowExpiry

	a.next = func(r *Rule, state []uint64, at, n int64) int64 {
		start, count := present(r, state, at)
		switch {
		case n > r.capacity:
			return Never
		case n <= r.capacity-count:
			return at
		case state[1]&overdrawnFlag != 0:
			return r.windowsAfter(start, count-(r.capacity-n))
		}
		return start + r.interval
	}

	a.spend = func(r *Rule, state []uint64, at, n int64) level {
		start, count := present(r, state, at)
		r.setWindow(state, start, count+n)
		return level{count + n, r.capacity, start + r.interval}
	}

	a.overdraw = func(r *Rule, state []uint64, at, n int64) {
		start, count := present(r, state, at)
		state[1] |= overdrawnFlag
		r.setWindow(state, start, addCapped(count, n, MaxMessages))
	}

	a.add = func(r *Rule, state, other []uint64, at int64) {
		start, count := present(r, state, at)
		from, more := present(r, other, at)
		switch {
		case more == 0:
			return
		case count == 0:
			start = from
		}
		state[1] |= overdrawnFlag
		r.setWindow(state, min(start, from), addCapped(count, more, MaxMessages))
	}

	a.charge = func(r *Rule, state []uint64, at, n int64) (counted int64) {
		start, count := present(r, state, at)
		more := addCapped(count, n, r.capacity)
		r.setWindow(state, start, more)
		return more - count
	}

	// Usage that had expired at the last use stays expired. If the window starts after at, it is
	// replaced by the window that contains at, and the count stays.
	a.rewind = func(r *Rule, state []uint64, last, at int64) {
		start, count := present(r, state, last)
		if start > at {
			var none [2]uint64
			start, _ = present(r, none[:], at)
		}
		r.setWindow(state, start, count)
	}

	a.refund = func(r *Rule, state []uint64, back spentMessage, at int64) {
		if start, count := present(r, state, at); back.at >= start {
			r.setWindow(state, start, max(0, count-back.n))
		}
	}

	return a
}

func compileWindow(p Params, r *Rule) error {
	r.capacity, r.interval = p.Messages, int64(p.Every)
	return nil
}

// windowParameters returns the parameters of an algorithm with windows of any length, with the
// values that it suggests.
func windowParameters(messages int64, every time.Duration) []Parameter {
	return []Parameter{countParameter("messages", MaxMessages, messages), lengthParameter("every", maxEvery-1, every)}
}

func isValidWindow(old *Rule, state []uint64, last int64) bool {
	return len(state) == 2 && old.interval > 0 && old.interval < maxEvery && state[0] <= uint64(last) && state[1]&^overdrawnFlag <= MaxMessages &&
		(old.capacity > 0 || state[1]&overdrawnFlag == 0)
}

// overdrawnFlag in the word of a count means that more was spent than fits. What exceeds the
// capacity counts in the next window. Without the flag, a count above the capacity comes from a
// capacity that was lowered, and lapses with its window.
const overdrawnFlag = 1 << 61

// setWindow stores a window; for an empty window it stores zero words.
func (r *Rule) setWindow(state []uint64, start, count int64) {
	if count == 0 {
		start = 0
	}
	flag := state[1] & overdrawnFlag
	if count <= r.capacity {
		flag = 0
	}
	state[0], state[1] = uint64(start), uint64(count)|flag
}

// countIn returns the count in the word of a window.
func countIn(word uint64) int64 { return int64(word &^ overdrawnFlag) }

// carried returns how much of an overdrawn window still counts in a later window. later is the time
// between their starts, in nanoseconds.
func (r *Rule) carried(state []uint64, later int64) int64 {
	count := countIn(state[1])
	windows := later / r.interval
	if state[1]&overdrawnFlag == 0 || windows > count {
		return 0
	}
	return max(0, count-windows*r.capacity)
}

// windowsAfter returns the end of the window in which count is used up: the allowances of the
// windows from start to that one add up to at least count.
func (r *Rule) windowsAfter(start, count int64) int64 {
	length, _ := scale((count-1)/r.capacity+1, r.interval, 1)
	return min(start+length, MaxTime-1)
}

func windowExpiry(r *Rule, state []uint64) int64 {
	switch {
	case state[1] == 0:
		return 0
	case state[1]&overdrawnFlag != 0:
		return r.windowsAfter(int64(state[0]), countIn(state[1]))
	}
	return int64(state[0]) + r.interval
}
