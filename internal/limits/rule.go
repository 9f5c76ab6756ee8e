package limits

import (
	"fmt"
	"math/bits"
	"time"
)

// Params are a limit's configured parameters. Each algorithm reads its own and rejects the others.
type Params struct {
	Name      string
	Algorithm string
	Burst     int64
	Refill    time.Duration
	// ExtraBurst and ExtraRefill are the second bucket of a cascade.
	ExtraBurst  int64
	ExtraRefill time.Duration
	Queue       int64
	Messages    int64
	Every       time.Duration
	Slices      int64  // of a sliding window; 0 means 1
	Timezone    string // IANA name; empty means DefaultZone
	ResetAt     string // "HH:MM"; empty means midnight
	Period      string // "day", "week" or "month"; empty means a day
	FirstDay    string // of a week, "monday" to "sunday"; empty means Monday

	// DefaultZone is the channel's zone. A daily window uses it if Timezone is empty. Empty means
	// UTC.
	DefaultZone string

	Observes       bool // never blocks a message; see Set
	CountThrottled bool // throttled messages count too
	// Strikes means that a limit that several users share gives strikes, and penalties, to those
	// whom it throttles.
	Strikes bool
	// Reserve is how much of the capacity is kept for messages of normal priority. A cascade has
	// none.
	Reserve int64
	// Place is the index in the policy. If several limits have the same wait, the decision names
	// the one with the lowest Place.
	Place int

	// noQueue is set by an override with NoQueue. It is rejected if the algorithm has no queue.
	noQueue bool
}

// Rule is one compiled limit: an algorithm with its parameters in the form that its steps use. It
// is immutable.
type Rule struct {
	*algorithm
	name     string
	capacity int64     // maximum number of messages that can count at once
	interval int64     // ns; its meaning depends on the algorithm
	calendar *Calendar // of a daily window
	words    int       // state words that the algorithm needs
	start    int       // start of its state in a row
	end      int       // end of its state; there may be spare room
	place    int       // index in the policy

	observes       bool
	countThrottled bool
	strikes        bool // see Params.Strikes

	reserve int64  // how much of the capacity is kept for messages of normal priority
	buckets []Rule // of a cascade; their state is part of the cascade's
	slices  int    // of a sliding window
	slice   int64  // duration of each slice, ns
}

// state returns the part of a row that holds the limit's state.
func (r *Rule) state(row []uint64) []uint64 { return row[r.start:r.end:r.end] }

// Name returns the limit's name.
func (r *Rule) Name() string { return r.name }

// Algorithm returns the name of the limit's algorithm.
func (r *Rule) Algorithm() string { return r.algorithm.name }

// compile checks the parameters and compiles them. The error is a Mistake in the limit.
func compile(p Params) (Rule, error) {
	r, err := compileParams(p)
	return r, InLimit(p.Name, err)
}

// compileParams is compile without the limit's name in the error.
func compileParams(p Params) (Rule, error) {
	a, err := algorithmFor(&p)
	if err != nil {
		return Rule{}, err
	}
	if err := a.checkParams(p); err != nil {
		return Rule{}, err
	}
	r := Rule{algorithm: a, words: a.size, name: p.Name, place: p.Place, observes: p.Observes, countThrottled: p.CountThrottled, strikes: p.Strikes}
	if err := a.compile(p, &r); err != nil {
		return Rule{}, err
	}
	if err := r.keepReserve(p.Reserve); err != nil {
		return Rule{}, err
	}
	return r, nil
}

// keepReserve sets the reserve.
func (r *Rule) keepReserve(reserve int64) error {
	switch {
	case reserve == 0:
	case r.buckets != nil:
		return MistakeIn("reserve", reserve, "%s has no %q: set it on the other limits", r.algorithm.name, "reserve")
	case r.capacity == 1:
		return MistakeIn("reserve", reserve, "reserve is %d, but the limit holds one message, so it can keep none: leave it out, or raise the limit", reserve)
	case reserve < 0 || reserve >= r.capacity:
		return MistakeIn("reserve", reserve, "reserve is %d, want 0 to %d, less than the limit holds", reserve, r.capacity-1)
	}
	r.reserve = reserve
	return nil
}

// maxEvery is the upper bound of a window's duration, exclusive: a time plus two such windows still
// fits an int64.
const maxEvery = 1 << 60

// maxDebt is the maximum debt of a bucket, in nanoseconds.
const maxDebt = MaxTime - 1

// checkProduct returns an error if n + more times length is a debt that a time can't represent.
// name and lengthName are the names of the parameters.
func checkProduct(name string, n, more int64, lengthName string, length time.Duration) error {
	if hi, lo := bits.Mul64(uint64(n+more), uint64(length)); hi == 0 && lo <= maxDebt {
		return nil
	}
	count := name
	if more > 0 {
		count = fmt.Sprintf("(%s + %d)", name, more)
	}
	return MistakeIn(name, n, "%s × %s is too long (%d × %s), want less than 146 years", count, lengthName, n+more, length)
}

// scale returns x × num ÷ den, rounded down and limited to MaxTime-1. exact is false if the result
// was rounded. No argument may be negative, and den must not be 0.
func scale(x, num, den int64) (q int64, exact bool) {
	hi, lo := bits.Mul64(uint64(x), uint64(num))
	if hi >= uint64(den) {
		return MaxTime - 1, true
	}
	quotient, rest := bits.Div64(hi, lo, uint64(den))
	if quotient >= MaxTime-1 {
		return MaxTime - 1, true
	}
	return int64(quotient), rest == 0
}

// scaleUp is scale rounded up.
func scaleUp(x, num, den int64) int64 {
	q, exact := scale(x, num, den)
	if !exact {
		q++
	}
	return q
}

// addCapped returns count + n, at most capacity. If count already exceeds capacity, it returns
// count.
func addCapped(count, n, capacity int64) int64 {
	if n > capacity-count {
		return max(count, capacity)
	}
	return count + n
}
