package limits

import "time"

// leakyBucket releases one message per interval. Other messages wait in a queue. The message being
// released takes no place there, so queue + 1 messages fit at once. leakyBucket counts as the token
// bucket does, but it may delay a message that fits.
var leakyBucket = algorithm{
	name: "leaky-bucket",
	code: 3,
	size: 1,
	params: []Parameter{
		lengthParameter("every", maxDebt, 2*time.Second),
		{Name: "queue", Kind: Count, Most: MaxMessages - 1, Suggested: 3, Overridable: true},
	},

	compile: func(p Params, r *Rule) error {
		r.capacity, r.interval = p.Queue+1, int64(p.Every)
		return checkProduct("queue", p.Queue, 1, "every", p.Every)
	},

	isValid:  isValidDebt,
	next:     nextDebt,
	spend:    spendDebt,
	overdraw: overdrawDebt,
	add:      addDebt,
	raise:    raiseDebt,
	charge:   chargeDebt,
	refund:   refundDebt,
	level:    levelOfDebt,
	picture:  pictureOfQueue,
	expiry:   debtExpiry,
	rewind:   rewindDebt,
	convert:  convertDebt,

	releaseTime: func(_ *Rule, state []uint64, at int64) int64 { return max(at, int64(state[0])) },
}
