package lab

import (
	"math"
	"math/bits"

	"github.com/chatguard/chatguard"
)

// comparedUser is what a AccuracyMeter knows of a user. It counts each message, whatever was decided.
type comparedUser struct {
	limit, every int64
	log          Stretch // exact

	window            int64 // number of the current window since 1970
	previous, current int64

	over, held bool    // at some time
	most       int64   // of the exact count
	passed     Stretch // what the sliding window allowed
}

func newComparedUser(l chatguard.Limit) *comparedUser {
	return &comparedUser{
		limit: int64(l.Messages), every: int64(l.Every),
		log: NewStretch(l.Every), passed: NewStretch(l.Every),
	}
}

// counts are the counts right after a message.
type counts struct {
	exact             int64
	previous, current int64
	left              int64 // nanoseconds until the current window ends
}

// add counts a message.
func (u *comparedUser) add(at, cost int64) counts {
	if n := len(u.log.events); n > 0 {
		at = max(at, u.log.events[n-1].at) // a late message
	}
	exact := u.log.Add(at, cost)
	switch window := at / u.every; window {
	case u.window:
	case u.window + 1:
		u.window, u.previous, u.current = window, u.current, 0
	default:
		u.window, u.previous, u.current = window, 0, 0
	}
	u.current += cost
	return counts{exact, u.previous, u.current, u.every - at%u.every}
}

// isHeld reports whether the estimate is above the limit. It computes exactly.
func (n counts) isHeld(u *comparedUser) bool {
	if n.current > u.limit {
		return true
	}
	counted, countedLow := bits.Mul64(uint64(n.previous), uint64(n.left))
	room, roomLow := bits.Mul64(uint64(u.limit-n.current), uint64(u.every))
	return counted > room || counted == room && countedLow > roomLow
}

// off returns how far the estimate is off, as a part of the exact count.
func (n counts) off(u *comparedUser) float64 {
	estimate := float64(n.previous)*(float64(n.left)/float64(u.every)) + float64(n.current)
	return math.Abs(estimate-float64(n.exact)) / float64(n.exact)
}
