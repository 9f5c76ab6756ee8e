package lab

import (
	"math"
	"math/bits"

	"github.com/chatguard/chatguard"
)

// comparedUser is what an AccuracyMeter knows of a user. It counts each message, whatever was
// decided.
type comparedUser struct {
	limit int64
	log   Stretch // exact

	slice int64   // duration of a slice of the window, ns
	now   int64   // number of the current slice since 1970
	each  []int64 // the counts of the slices, the current one first

	over, held bool    // at some time
	most       int64   // of the exact count
	passed     Stretch // what the sliding window allowed
}

func newComparedUser(l chatguard.Limit) *comparedUser {
	return &comparedUser{
		limit: int64(l.Messages), slice: int64(l.Every) / int64(max(1, l.Slices)), each: make([]int64, 1+max(1, l.Slices)),
		log: NewStretch(l.Every), passed: NewStretch(l.Every),
	}
}

// counts are the counts right after a message.
type counts struct {
	exact         int64
	whole, oldest int64 // of the slices without the oldest, and of the oldest alone
	left          int64 // nanoseconds until the current slice ends
}

// add counts a message.
func (u *comparedUser) add(at, cost int64) counts {
	if n := len(u.log.events); n > 0 {
		at = max(at, u.log.events[n-1].at) // a late message
	}
	exact := u.log.Add(at, cost)
	slice := at / u.slice
	if passed := slice - u.now; passed > 0 {
		n := int(min(passed, int64(len(u.each))))
		copy(u.each[n:], u.each)
		clear(u.each[:n])
		u.now = slice
	}
	u.each[0] += cost
	n := counts{exact: exact, left: u.slice - at%u.slice}
	for _, count := range u.each[:len(u.each)-1] {
		n.whole += count
	}
	n.oldest = u.each[len(u.each)-1]
	return n
}

// isHeld reports whether the estimate is above the limit. It computes exactly.
func (n counts) isHeld(u *comparedUser) bool {
	if n.whole > u.limit {
		return true
	}
	counted, countedLow := bits.Mul64(uint64(n.oldest), uint64(n.left))
	room, roomLow := bits.Mul64(uint64(u.limit-n.whole), uint64(u.slice))
	return counted > room || counted == room && countedLow > roomLow
}

// off returns how far the estimate is off, as a fraction of the exact count.
func (n counts) off(u *comparedUser) float64 {
	estimate := float64(n.oldest)*(float64(n.left)/float64(u.slice)) + float64(n.whole)
	return math.Abs(estimate-float64(n.exact)) / float64(n.exact)
}
