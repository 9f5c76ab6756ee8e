package limits

import (
	"fmt"
	"math/bits"
)

// tokenBucket holds burst tokens and gets one back every refill. Instead of tokens it keeps one time, at which the bucket will be full
// again: the theoretical arrival time of the generic cell rate algorithm (ITU-T I.371). What is owed is that time less now, so tokens
// accrue continuously without being counted, and a change of burst converts nothing.
var tokenBucket = algorithm{
	name:   "token-bucket",
	code:   1,
	words:  1,
	params: []string{"burst", "refill"},

	compile: func(p Params, r *Rule) error {
		if err := checkCount("burst", p.Burst); err != nil {
			return err
		}
		if p.Refill <= 0 {
			return fmt.Errorf("refill is %s, want more than 0s", p.Refill)
		}
		if hi, lo := bits.Mul64(uint64(p.Burst), uint64(p.Refill)); hi != 0 || lo >= MaxTime {
			return fmt.Errorf("burst × refill is too long (%d × %s), want less than 146 years", p.Burst, p.Refill)
		}
		r.capacity, r.interval = p.Burst, int64(p.Refill)
		return nil
	},

	sound: func(old *Rule, state []uint64, last int64) bool {
		return old.interval > 0 && old.interval < MaxTime && state[0] <= uint64(last+MaxTime)
	},

	next: func(r *Rule, state []uint64, at, n int64) int64 {
		if n > r.capacity {
			return Never
		}
		return max(at, int64(state[0])-(r.capacity-n)*r.interval)
	},

	spend: func(r *Rule, state []uint64, at, n int64) {
		state[0] = uint64(max(at, int64(state[0])) + n*r.interval)
	},

	level: func(r *Rule, state []uint64, at int64) (remaining, resetAt int64) {
		full := max(at, int64(state[0]))
		return max(0, r.capacity*r.interval-(full-at)) / r.interval, full
	},

	rewind: func(r *Rule, state []uint64, at int64) {
		state[0] = uint64(min(int64(state[0]), at+r.capacity*r.interval))
	},

	convert: func(old, r *Rule, state []uint64, at int64) {
		debt := int64(state[0]) - at
		if debt > 0 && old.interval != r.interval {
			state[0] = uint64(at + scaleUp(debt, r.interval, old.interval))
		}
	},
}

// scaleUp returns x × num ÷ den, rounded up so that a conversion gives nothing away, and at most MaxTime-1. All three are positive.
func scaleUp(x, num, den int64) int64 {
	hi, lo := bits.Mul64(uint64(x), uint64(num))
	if hi >= uint64(den) {
		return MaxTime - 1
	}
	q, rest := bits.Div64(hi, lo, uint64(den))
	if q >= MaxTime-1 {
		return MaxTime - 1
	}
	if rest > 0 {
		q++
	}
	return int64(q)
}
