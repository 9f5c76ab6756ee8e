package limits

import "time"

// tokenBucket holds up to burst tokens and regains one per refill.
var tokenBucket = algorithm{
	name:   "token-bucket",
	code:   1,
	size:   1,
	params: []Parameter{countParameter("burst", MaxMessages, 3), lengthParameter("refill", maxDebt, 4*time.Second).overridable()},

	compile: func(p Params, r *Rule) error {
		r.capacity, r.interval = p.Burst, int64(p.Refill)
		return checkProduct("burst", p.Burst, 0, "refill", p.Refill)
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
	picture:  pictureOfTokens,
	expiry:   debtExpiry,
	rewind:   rewindDebt,
	convert:  convertDebt,
}
