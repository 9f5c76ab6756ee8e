package limits

import (
	"fmt"
	"slices"
	"strings"
)

// algorithm is one way of counting. Its steps read and write a limit's words in a user's row; zero words are a user never seen.
//
// In every step, at is a time not before the row's last spending (rewind excepted), and n is from 1 up.
type algorithm struct {
	name   string
	code   byte // names the algorithm in stored bytes; never reused
	size   int  // of the state, in words; 0 for a log, whose first word says how many follow
	params []string

	// compile checks the parameters and fills in the rule.
	compile func(p Params, r *Rule) error

	// sound reports whether words read from a store can be state that was spent under the rule old, last at that time.
	sound func(old *Rule, state []uint64, last int64) bool

	// next is the earliest time from at on at which n fit, if nothing else happens; Never when no waiting helps.
	next func(r *Rule, state []uint64, at, n int64) int64

	// spend takes n, which fit at that time, and returns the level afterwards.
	spend func(r *Rule, state []uint64, at, n int64) level

	// charge counts n of a throttled message, as far as there is room, and returns for how many there was.
	charge func(r *Rule, state []uint64, at, n int64) (counted int64)

	// refund gives back what still counts at that time of what was spent.
	refund func(r *Rule, state []uint64, back spent, at int64)

	// level is how full the limit is at that time.
	level func(r *Rule, state []uint64, at int64) level

	// forgotten is the time from which on the state is as good as none; 0 for none.
	forgotten func(r *Rule, state []uint64) int64

	// rewind brings the state to a clock that jumped back to at. What counted right after the spending at last still counts, and no more:
	// the jump neither refunds anything nor locks anyone out.
	rewind func(r *Rule, state []uint64, last, at int64)

	// convert fills the zero words of state with what the state before, spent under the rule old, comes to under the rule r, as of the
	// moment at.
	convert func(old, r *Rule, before, state []uint64, at int64)

	// leave is when a message that is sent at that time may go on its way, if it were for this limit alone. Nil means at once.
	leave func(r *Rule, state []uint64, at int64) int64

	// windowEnd is when the window that counts at that time ends, 0 when none is open. Nil means that there are no windows.
	windowEnd func(r *Rule, state []uint64, at int64) int64
}

// level is how full a limit is for somebody: how many messages of cost 1 count, of how many, and when all of them will be forgotten.
type level struct{ used, capacity, resetAt int64 }

// remaining is how many messages of cost 1 still fit.
func (l level) remaining() int64 { return max(0, l.capacity-l.used) }

// spent is a message that was spent.
type spent struct {
	at, n  int64
	latest bool // nothing was spent after it
}

// algorithms is the one place where an algorithm is made known.
var algorithms = []*algorithm{&tokenBucket, &leakyBucket, &fixedWindow, &dailyWindow, &userWindow, &slidingWindow, &slidingLog}

func algorithmNamed(name string) (*algorithm, error) {
	names := make([]string, len(algorithms))
	for i, a := range algorithms {
		if a.name == name {
			return a, nil
		}
		names[i] = a.name
	}
	return nil, fmt.Errorf("unknown algorithm %q (known: %s)", name, strings.Join(names, ", "))
}

func algorithmCoded(code byte) (*algorithm, error) {
	for _, a := range algorithms {
		if a.code == code {
			return a, nil
		}
	}
	return nil, fmt.Errorf("%w: unknown algorithm code %d", errStateBytes, code)
}

// sizeOf returns how many words the state has whose beginning this is.
func (a *algorithm) sizeOf(state []uint64) int {
	switch {
	case a.size > 0:
		return a.size
	case len(state) == 0:
		return 1
	}
	return 1 + int(min(state[0], maxLog))
}

// refuseOthers returns an error for a parameter that the algorithm doesn't read.
func (a *algorithm) refuseOthers(p Params) error {
	for _, name := range p.given() {
		if !slices.Contains(a.params, name) {
			return fmt.Errorf("%s has no %q (it takes %s)", a.name, name, strings.Join(a.params, ", "))
		}
	}
	return nil
}
