package limits

import (
	"fmt"
	"math/bits"
	"time"
)

// Params are a limit's parameters as people give them. Each algorithm reads its own and refuses the others.
type Params struct {
	Name      string
	Algorithm string
	Burst     int64
	Refill    time.Duration
	Queue     int64
	Messages  int64
	Every     time.Duration
	Timezone  string // IANA name; empty means DefaultZone
	ResetAt   string // "HH:MM"; empty means midnight

	DefaultZone string // the channel's zone, for limits that need one; empty means UTC

	Observes       bool // never stands in the way; see Set
	CountThrottled bool // throttled messages count too
	Place          int  // in the policy's order; of limits with the same wait, the one with the lowest is named

	noQueue bool // an override says so: it is refused like any other queue if the algorithm has none
}

// given lists the names of the algorithm's parameters that have a value.
func (p Params) given() []string {
	var names []string
	for _, param := range []struct {
		name string
		set  bool
	}{
		{"burst", p.Burst != 0},
		{"refill", p.Refill != 0},
		{"queue", p.Queue != 0 || p.noQueue},
		{"messages", p.Messages != 0},
		{"every", p.Every != 0},
		{"timezone", p.Timezone != ""},
		{"reset_at", p.ResetAt != ""},
	} {
		if param.set {
			names = append(names, param.name)
		}
	}
	return names
}

// Rule is one limit, compiled: an algorithm with its parameters in the form that its steps want. It is immutable.
type Rule struct {
	*algorithm
	name     string
	capacity int64     // messages it can hold at once
	interval int64     // nanoseconds; its meaning is the algorithm's
	calendar *Calendar // of a limit that counts by days
	words    int       // of state that the algorithm needs
	start    int       // of the state in a row
	end      int       // of the state in a row: there may be more room than need
	place    int       // in the policy's order

	observes       bool
	countThrottled bool
}

// state returns the limit's words in a row.
func (r *Rule) state(row []uint64) []uint64 { return row[r.start:r.end:r.end] }

// Name is the limit's name.
func (r *Rule) Name() string { return r.name }

// Algorithm is the name of the limit's algorithm.
func (r *Rule) Algorithm() string { return r.algorithm.name }

// compile checks the parameters. The error is without the limit's name.
func compile(p Params) (Rule, error) {
	a, err := algorithmNamed(p.Algorithm)
	if err != nil {
		return Rule{}, err
	}
	if err := a.refuseOthers(p); err != nil {
		return Rule{}, err
	}
	r := Rule{algorithm: a, words: a.size, name: p.Name, place: p.Place, observes: p.Observes, countThrottled: p.CountThrottled}
	if err := a.compile(p, &r); err != nil {
		return Rule{}, err
	}
	return r, nil
}

// checkCount refuses a number of messages that a limit can't count to.
func checkCount(name string, n, most int64) error {
	switch {
	case n < 1:
		return fmt.Errorf("%s is %d, want 1 or more", name, n)
	case n > most:
		return fmt.Errorf("%s is %d, want %d or less", name, n, most)
	}
	return nil
}

// maxEvery is the first length of a window that is too long: two of them after any time still fit an int64.
const maxEvery = 1 << 60

// checkEvery refuses a length of time that no window can have.
func checkEvery(every time.Duration) error {
	switch {
	case every <= 0:
		return fmt.Errorf("every is %s, want more than 0s", every)
	case every >= maxEvery:
		return fmt.Errorf("every is %s, want less than 36 years (320000h)", every)
	}
	return nil
}

// checkProduct refuses a debt that a time can't carry. The names are those of the two factors.
func checkProduct(name string, n int64, lengthName string, length time.Duration) error {
	if length <= 0 {
		return fmt.Errorf("%s is %s, want more than 0s", lengthName, length)
	}
	if hi, lo := bits.Mul64(uint64(n), uint64(length)); hi != 0 || lo >= MaxTime {
		return fmt.Errorf("%s × %s is too long (%d × %s), want less than 146 years", name, lengthName, n, length)
	}
	return nil
}

// scale returns x × num ÷ den and whether that is exact, rounded down, and at most MaxTime-1. None is negative, and den isn't 0.
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

// plus returns count + n as far as capacity lets it grow; a count that is beyond it stays.
func plus(count, n, capacity int64) int64 {
	if n > capacity-count {
		return max(count, capacity)
	}
	return count + n
}
