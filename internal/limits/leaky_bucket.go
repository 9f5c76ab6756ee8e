package limits

import "fmt"

// leakyBucket lets one message leave every so often. Others wait in a queue, and the message that is leaving takes no place there: so
// queue + 1 fit at once, and in all that is counted the leaky bucket is the token bucket's mirror image. It differs in that a message that
// fits may have to wait for its turn.
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

	sound:     soundDebt,
	next:      nextDebt,
	spend:     spendDebt,
	charge:    chargeDebt,
	refund:    refundDebt,
	level:     levelOfDebt,
	forgotten: forgottenDebt,
	rewind:    rewindDebt,
	convert:   convertDebt,

	leave: func(_ *Rule, state []uint64, at int64) int64 { return max(at, int64(state[0])) },
}
