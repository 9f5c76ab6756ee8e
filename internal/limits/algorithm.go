package limits

import (
	"fmt"
	"slices"
	"strings"
)

// algorithm is one way of counting. Its funcs, the steps, read and write a limit's words in a
// user's row. Zero words are the state of a user who was never seen.
//
// In every step, at is not before the row's last use (except in rewind), and n is at least 1.
type algorithm struct {
	name string
	code byte // identifies it in stored bytes; never reused
	// size is the number of state words; 0 if it depends on the rule.
	size int
	// isLog means that the first word is the number of words that follow.
	isLog  bool
	params []Parameter
	// buckets is how many buckets the rules of a cascade have; 0 for other algorithms.
	buckets int
	// more is how many numbers Rule.appendMore appends.
	more int

	// compile fills in the rule. The parameters are within their bounds; compile checks that they
	// are valid together.
	compile func(p Params, r *Rule) error

	// isValid reports whether words from a store are a valid state. The state was spent under the
	// rule old, and its last use was at the time last.
	isValid func(old *Rule, state []uint64, last int64) bool

	// next returns the earliest time, not before at, at which n fit if nothing else is spent. It
	// returns Never if waiting never helps.
	next func(r *Rule, state []uint64, at, n int64) int64

	// spend spends n, which must fit at that time, and returns the level afterwards.
	spend func(r *Rule, state []uint64, at, n int64) level

	// overdraw spends n, whether it fits or not, for messages that were allowed elsewhere. What
	// exceeds the capacity is paid back by waiting, as far as the algorithm can represent it.
	overdraw func(r *Rule, state []uint64, at, n int64)

	// add adds the usage in other, which the same user has elsewhere. What exceeds the capacity is
	// paid back, as with overdraw.
	add func(r *Rule, state, other []uint64, at int64)

	// raise replaces the usage by that in other, if that is higher. It is nil if what is overdrawn
	// isn't paid back in full.
	raise func(r *Rule, state, other []uint64, at int64)

	// charge counts n messages that were throttled, as far as there is room, and returns how many
	// it counted.
	charge func(r *Rule, state []uint64, at, n int64) (counted int64)

	// refund reduces the usage by the part of back that still counts at that time.
	refund func(r *Rule, state []uint64, back spentMessage, at int64)

	// level returns the usage at that time.
	level func(r *Rule, state []uint64, at int64) level

	// picture returns the state at that time in the terms of the algorithm.
	picture func(r *Rule, state []uint64, at int64) Picture

	// expiry returns the time from which the state no longer matters; 0 if the state is empty.
	expiry func(r *Rule, state []uint64) int64

	// rewind adjusts the state to a clock that jumped back to at. Exactly what counted right after
	// the use at last still counts, or if the state can't represent that, a little less. So the
	// jump neither refunds a message nor locks anyone out.
	rewind func(r *Rule, state []uint64, last, at int64)

	// convert fills state, whose words are zero, with the equivalent of before. The usage in before
	// was spent under the rule old. The equivalent is under the rule r, as of the time at.
	convert func(old, r *Rule, before, state []uint64, at int64)

	// releaseTime returns when a message sent at that time may be released, considering only this
	// limit. If the func is nil, messages are released at once.
	releaseTime func(r *Rule, state []uint64, at int64) int64

	// windowEnd returns when the current window at that time ends; 0 if none is open. If the func
	// is nil, the algorithm has no windows.
	windowEnd func(r *Rule, state []uint64, at int64) int64
}

// level is a user's usage of a limit: how many messages of cost 1 count, the capacity, and when all
// usage will have expired.
type level struct{ used, capacity, resetAt int64 }

// remaining returns how many messages of cost 1 still fit.
func (l level) remaining() int64 { return max(0, l.capacity-l.used) }

// spentMessage describes a message that was spent.
type spentMessage struct {
	at, n  int64
	latest bool // nothing was spent after it
	later  bool // it may have counted later than at
	normal bool // a cascade's first bucket paid it
}

// algorithms lists all algorithms; each is registered only here.
var algorithms = []*algorithm{&tokenBucket, &leakyBucket, &fixedWindow, &dailyWindow, &userWindow, &slidingWindow, &slidingLog, &cascade}

// storedAlgorithms also includes the variants of algorithms that are stored with another code.
var storedAlgorithms = append(slices.Clone(algorithms), &slicedWindow)

// algorithmFor returns the algorithm of a limit.
func algorithmFor(p *Params) (*algorithm, error) {
	if p.Algorithm == slicedWindow.name && p.Slices > 1 {
		return &slicedWindow, nil
	}
	names := make([]string, len(algorithms))
	for i, a := range algorithms {
		if a.name == p.Algorithm {
			return a, nil
		}
		names[i] = a.name
	}
	return nil, MistakeIn("algorithm", p.Algorithm, "unknown algorithm %q (known: %s)", p.Algorithm, strings.Join(names, ", "))
}

func algorithmByCode(code byte) (*algorithm, error) {
	for _, a := range storedAlgorithms {
		if a.code == code {
			return a, nil
		}
	}
	return nil, fmt.Errorf("%w: unknown algorithm code %d", errStateBytes, code)
}

// sizeOf returns the number of words that the state at the beginning of the slice has.
func (r *Rule) sizeOf(state []uint64) int {
	switch {
	case !r.isLog:
		return r.words
	case len(state) == 0:
		return 1
	}
	return 1 + int(min(state[0], maxLog))
}
