package limits

import "fmt"

// leakyBucket releases one message per interval. Other messages wait in a queue. The message being
// released takes no place there, so queue + 1 messages fit at once. leakyBucket counts as the token
// bucket does, but it may delay a message that fits.
var leakyBucket = algorithm{
	name:   "leaky-bucket",
	code:   3,
	size:   1,
	params: []string{"every", "queue"},

	compile: func(p Params, r *Rule) error {
		if p.Queue < 0 || p.Queue >= MaxMessages {
			return fmt.Errorf("queue is %d, want 0 to %d", p.Queue, MaxMessages-1)
		}
		r.capacity, r.interval = p.Queue+1, int64(p.Every)
		return checkProduct("(queue + 1)", r.capacity, "every", p.Every)
	},

	isValid:  isValidDebt,
	next:     nextDebt,
	spend:    spendDebt,
	overdraw: overdrawDebt,
	charge:   chargeDebt,
	refund:   refundDebt,
	level:    levelOfDebt,
	expiry:   debtExpiry,
	rewind:   rewindDebt,
	convert:  convertDebt,

	releaseTime: func(_ *Rule, state []uint64, at int64) int64 { return max(at, int64(state[0])) },
}
