package limits

// countedWindow completes an algorithm whose state is the start of a window and its count. present
// returns the window that contains a time.
func countedWindow(present func(r *Rule, state []uint64, at int64) (start, count int64), a algorithm) algorithm {
	a.compile, a.isValid, a.expiry = compileWindow, isValidWindow, windowExpiry

	a.next = func(r *Rule, state []uint64, at, n int64) int64 {
		start, count := present(r, state, at)
		switch {
		case n > r.capacity:
			return Never
		case n > r.capacity-count:
			return start + r.interval
		}
		return at
	}

	a.spend = func(r *Rule, state []uint64, at, n int64) level {
		start, count := present(r, state, at)
		setWindow(state, start, count+n)
		return level{count + n, r.capacity, start + r.interval}
	}

	a.charge = func(r *Rule, state []uint64, at, n int64) (counted int64) {
		start, count := present(r, state, at)
		more := addCapped(count, n, r.capacity)
		setWindow(state, start, more)
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
		setWindow(state, start, count)
	}

	a.refund = func(r *Rule, state []uint64, back spentMessage, at int64) {
		if start, count := present(r, state, at); back.at >= start {
			setWindow(state, start, max(0, count-back.n))
		}
	}

	return a
}

func compileWindow(p Params, r *Rule) error {
	if err := checkCount("messages", p.Messages, MaxMessages); err != nil {
		return err
	}
	r.capacity, r.interval = p.Messages, int64(p.Every)
	return checkEvery(p.Every)
}

func isValidWindow(old *Rule, state []uint64, last int64) bool {
	return len(state) == 2 && old.interval > 0 && old.interval < maxEvery && state[0] <= uint64(last) && state[1] <= MaxMessages
}

// setWindow stores a window; for an empty window it stores zero words.
func setWindow(state []uint64, start, count int64) {
	if count == 0 {
		start = 0
	}
	state[0], state[1] = uint64(start), uint64(count)
}

func windowExpiry(r *Rule, state []uint64) int64 {
	if state[1] == 0 {
		return 0
	}
	return int64(state[0]) + r.interval
}
