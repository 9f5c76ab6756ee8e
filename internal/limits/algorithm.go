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
	words  int  // of state
	params []string

	// compile checks the parameters and fills in the rule.
	compile func(p Params, r *Rule) error

	// sound reports whether words read from a store can be state that was spent under the rule old, last at that time.
	sound func(old *Rule, state []uint64, last int64) bool

	// next is the earliest time from at on at which n fit, if nothing else happens; Never when no waiting helps.
	next func(r *Rule, state []uint64, at, n int64) int64

	// spend takes n, which fit at that time.
	spend func(r *Rule, state []uint64, at, n int64)

	// level is how many of cost 1 still fit at that time, and when the limit will have forgotten everything.
	level func(r *Rule, state []uint64, at int64) (remaining, resetAt int64)

	// rewind brings the state to a clock that has jumped back to at: nothing is refunded, and nobody is locked out.
	rewind func(r *Rule, state []uint64, at int64)

	// convert brings state that was spent under the rule old to the rule r, as of the moment at.
	convert func(old, r *Rule, state []uint64, at int64)
}

// algorithms is the one place where an algorithm is made known.
var algorithms = []*algorithm{&tokenBucket, &dailyWindow}

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

// refuseOthers returns an error for a parameter that the algorithm doesn't read.
func (a *algorithm) refuseOthers(p Params) error {
	for _, name := range p.given() {
		if !slices.Contains(a.params, name) {
			return fmt.Errorf("%s has no %q (it takes %s)", a.name, name, strings.Join(a.params, ", "))
		}
	}
	return nil
}
