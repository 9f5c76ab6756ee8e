package limits

import (
	"slices"
	"time"
)

// cascade has two token buckets. The first bucket that holds a message's whole cost pays it alone.
// A message paid by the first one is of normal priority, one paid by the other of low priority.
// This is the colour-blind marker of RFC 4115: green from the committed bucket, otherwise yellow
// from the excess bucket, otherwise red. Each bucket fills independently of the other.
//
// The words: those of each bucket. The steps loop over a rule's buckets.
var cascade = algorithm{
	name: "cascade",
	code: 8,
	size: 2,

	buckets: 2,
	more:    2,
	params: []Parameter{
		countParameter("burst", maxCascade, 3), lengthParameter("refill", maxDebt, 4*time.Second).overridable(),
		countParameter("extra_burst", maxCascade, 2), lengthParameter("extra_refill", maxDebt, 20*time.Second).overridable(),
	},

	compile: func(p Params, r *Rule) error {
		r.capacity, r.interval = p.Burst, int64(p.Refill)
		r.addBucket(p.Burst, int64(p.Refill))
		r.addBucket(p.ExtraBurst, int64(p.ExtraRefill))
		if err := checkProduct("burst", p.Burst, 0, "refill", p.Refill); err != nil {
			return err
		}
		return checkProduct("extra_burst", p.ExtraBurst, 0, "extra_refill", p.ExtraRefill)
	},

	isValid: func(old *Rule, state []uint64, last int64) bool {
		return len(state) == len(old.buckets) && !slices.ContainsFunc(old.buckets, func(b Rule) bool { return !b.isValid(&b, b.state(state), last) })
	},

	next: func(r *Rule, state []uint64, at, n int64) int64 {
		first := int64(Never)
		for i := range r.buckets {
			b := &r.buckets[i]
			first = min(first, b.next(b, b.state(state), at, n))
		}
		return first
	},

	spend: func(r *Rule, state []uint64, at, n int64) level {
		for i := range r.buckets {
			if b := &r.buckets[i]; b.next(b, b.state(state), at, n) <= at {
				b.spend(b, b.state(state), at, n)
				break
			}
		}
		return levelOfCascade(r, state, at)
	},

	// The buckets pay one after another what they hold, because n may be the cost of many messages.
	// What exceeds both is the debt of the first.
	overdraw: func(r *Rule, state []uint64, at, n int64) {
		for i := range r.buckets {
			b := &r.buckets[i]
			if paid := min(n, b.level(b, b.state(state), at).remaining()); paid > 0 {
				b.spend(b, b.state(state), at, paid)
				n -= paid
			}
		}
		if n > 0 {
			overdrawDebt(r.first(), state[:1], at, n)
		}
	},

	add: func(r *Rule, state, other []uint64, at int64) {
		for i := range r.buckets {
			b := &r.buckets[i]
			b.add(b, b.state(state), b.state(other), at)
		}
	},

	// Both buckets count the messages. charge returns the count of the bucket that would have paid
	// them: see refund.
	charge: func(r *Rule, state []uint64, at, n int64) (counted int64) {
		payer := 0
		for i := range r.buckets {
			if b := &r.buckets[i]; b.next(b, b.state(state), at, n) <= at {
				payer = i
				break
			}
		}
		for i := range r.buckets {
			b := &r.buckets[i]
			if n := b.charge(b, b.state(state), at, n); i == payer {
				counted = n
			}
		}
		return counted
	},

	// A message whose priority is known to be normal was paid by the first bucket. Otherwise the
	// second bucket is refunded first, up to what is missing from it.
	refund: func(r *Rule, state []uint64, back spentMessage, at int64) {
		for i, b := range slices.Backward(r.buckets) {
			part := back
			if back.normal && i > 0 {
				continue
			}
			if i > 0 {
				part.n = min(back.n, b.level(&b, b.state(state), at).used)
			}
			if part.n > 0 {
				b.refund(&b, b.state(state), part, at)
				back.n -= part.n
			}
		}
	},

	level:   levelOfCascade,
	picture: pictureOfCascade,

	expiry: func(r *Rule, state []uint64) (last int64) {
		for i := range r.buckets {
			b := &r.buckets[i]
			last = max(last, b.expiry(b, b.state(state)))
		}
		return last
	},

	rewind: func(r *Rule, state []uint64, last, at int64) {
		for i := range r.buckets {
			b := &r.buckets[i]
			b.rewind(b, b.state(state), last, at)
		}
	},

	convert: func(old, r *Rule, before, state []uint64, at int64) {
		for i := range r.buckets {
			b := &r.buckets[i]
			b.convert(&old.buckets[i], b, b.state(before), b.state(state), at)
		}
	},
}

// maxCascade is the maximum capacity of each bucket, so that both together can be counted.
const maxCascade = MaxMessages / 2

// addBucket adds a bucket to a cascade.
func (r *Rule) addBucket(capacity, interval int64) {
	i := len(r.buckets)
	r.buckets = append(r.buckets, Rule{algorithm: &tokenBucket, name: r.name, capacity: capacity, interval: interval, start: i, end: i + 1})
}

// first returns the bucket of normal priority. r must be a cascade.
func (r *Rule) first() *Rule { return &r.buckets[0] }

// levelOfCascade adds up the tokens of both buckets. A bucket's debt beyond its capacity doesn't
// reduce the tokens of the other one.
func levelOfCascade(r *Rule, state []uint64, at int64) level {
	sum := level{resetAt: at}
	for i := range r.buckets {
		b := &r.buckets[i]
		l := b.level(b, b.state(state), at)
		sum.used, sum.capacity, sum.resetAt = sum.used+min(l.used, l.capacity), sum.capacity+l.capacity, max(sum.resetAt, l.resetAt)
	}
	return sum
}
