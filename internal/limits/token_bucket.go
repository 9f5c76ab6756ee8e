package limits

// tokenBucket holds burst tokens and regains one every refill.
var tokenBucket = algorithm{
	name:   "token-bucket",
	code:   1,
	size:   1,
	params: []string{"burst", "refill"},

	compile: func(p Params, r *Rule) error {
		if err := checkCount("burst", p.Burst, MaxMessages); err != nil {
			return err
		}
		r.capacity, r.interval = p.Burst, int64(p.Refill)
		return checkProduct("burst", p.Burst, "refill", p.Refill)
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
}
