package limits

import (
	"slices"
	"time"
)

// maxLog is the maximum number of messages in a user's sliding log.
const maxLog = 1024

// slidingLog allows a number of messages in any period of the duration every, and stores the time
// of each message. It is exact, and takes eight bytes for each message of a user.
//
// The words: the number of times, then the times, oldest first; a message of cost n is stored n
// times. Expired times stay until their room is needed.
var slidingLog = algorithm{
	name:   "sliding-log",
	code:   7,
	isLog:  true,
	params: []Parameter{countParameter("messages", maxLog, 10), lengthParameter("every", maxEvery-1, 30*time.Second)},

	compile: func(p Params, r *Rule) error {
		r.capacity, r.interval, r.words = p.Messages, int64(p.Every), 1+int(p.Messages)
		return nil
	},

	isValid: func(old *Rule, state []uint64, last int64) bool {
		return old.interval > 0 && old.interval < maxEvery && len(state) > 0 && state[0] <= maxLog && int(state[0]) < len(state) &&
			slices.IsSorted(logTimes(state)) && (state[0] == 0 || state[state[0]] <= uint64(last))
	},

	next: func(r *Rule, state []uint64, at, n int64) int64 {
		if n > r.capacity {
			return Never
		}
		times := logTimes(state)
		surplus := int64(len(times)) + n - r.capacity // how many of the oldest must expire
		if surplus <= 0 {
			return at
		}
		return max(at, int64(times[surplus-1])+r.interval)
	},

	spend: func(r *Rule, state []uint64, at, n int64) level {
		r.addToLog(state, at, n)
		return r.logLevel(state, at)
	},

	// The log keeps its newest times. What exceeds them isn't paid back.
	overdraw: func(r *Rule, state []uint64, at, n int64) { chargeLog(r, state, at, n) },
	charge:   chargeLog,

	add: func(r *Rule, state, other []uint64, at int64) {
		all := slices.Concat(r.countingTimes(state, at), r.countingTimes(other, at))
		slices.Sort(all)
		setLog(state, lastN(all, min(int(r.capacity), len(state)-1)))
	},

	refund: func(r *Rule, state []uint64, back spentMessage, at int64) {
		if back.at <= at-r.interval {
			return
		}
		times := logTimes(state)
		first, _ := slices.BinarySearch(times, uint64(back.at))
		after, _ := slices.BinarySearch(times, uint64(back.at)+1)
		if back.later {
			after = len(times)
		}
		setLog(state, slices.Delete(times, first, first+int(min(back.n, int64(after-first)))))
	},

	level: (*Rule).logLevel,

	picture: pictureOfLog,

	expiry: logExpiry,

	rewind: func(r *Rule, state []uint64, last, at int64) {
		setLog(state, r.countingTimes(state, last))
		for i, t := range logTimes(state) {
			state[1+i] = min(t, uint64(at))
		}
	},

	// Each message's age stays the same fraction of every.
	convert: func(old, r *Rule, before, state []uint64, at int64) {
		if old.interval == r.interval {
			setLog(state, lastN(logTimes(before), len(state)-1))
			return
		}
		times := lastN(old.countingTimes(before, at), len(state)-1)
		state[0] = uint64(len(times))
		for i, t := range times {
			age, _ := scale(at-int64(t), r.interval, old.interval)
			state[1+i] = uint64(max(0, at-age)) // no time is before 1970
		}
	},
}

func chargeLog(r *Rule, state []uint64, at, n int64) (counted int64) {
	n = min(n, r.capacity)
	times := r.countingTimes(state, at)
	before := int64(len(times))
	setLog(state, lastN(times, int(addCapped(before, n, r.capacity)-n)))
	r.addToLog(state, at, n)
	return int64(state[0]) - before
}

// logTimes returns the times in the log.
func logTimes(state []uint64) []uint64 { return state[1 : 1+state[0]] }

// setLog sets the log's contents. times may be a part of the log itself.
func setLog(state, times []uint64) {
	state[0] = uint64(copy(state[1:], times))
	clear(state[1+len(times):])
}

// lastN returns at most the last n elements.
func lastN[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }

// countingTimes returns the times that still count.
func (r *Rule) countingTimes(state []uint64, at int64) []uint64 {
	times := logTimes(state)
	if at < r.interval {
		return times
	}
	first := uint64(at-r.interval) + 1
	switch n := len(times); { // nearly always, all or none count
	case n == 0 || times[0] >= first:
		return times
	case times[n-1] < first:
		return times[n:]
	}
	over, _ := slices.BinarySearch(times, first)
	return times[over:]
}

// addToLog adds a time n times. There must be room for it, at least after expired times are
// removed.
func (r *Rule) addToLog(state []uint64, at, n int64) {
	if int(state[0])+int(n) >= len(state) {
		setLog(state, r.countingTimes(state, at))
	}
	for range n {
		state[0]++
		state[state[0]] = uint64(at)
	}
}

func (r *Rule) logLevel(state []uint64, at int64) level {
	return level{int64(len(r.countingTimes(state, at))), r.capacity, max(at, logExpiry(r, state))}
}

func logExpiry(r *Rule, state []uint64) int64 {
	if state[0] == 0 {
		return 0
	}
	return int64(state[state[0]]) + r.interval
}
