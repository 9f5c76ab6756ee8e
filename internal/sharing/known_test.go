package sharing

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/chatguard/chatguard/internal/limits"
)

// However many messages are pending in a row, it keeps few of them, and what each try included
// stays known.
func TestKnownRow_Compact(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	sum := func(pending []limits.Spent) (n int64) {
		for _, spent := range pending {
			n += spent.N
		}
		return n
	}
	for range 40 {
		k := &knownRow{}
		total, included := int64(0), map[limits.Stamp]int64{}
		for i := range 500 {
			before := k.pending
			was := slices.Clone(before)
			n := int64(1 + random.IntN(3))
			k.addPending(len(k.pending), limits.Spent{At: int64(i), N: n})
			k.compact()
			if total += n; !slices.Equal(before, was) {
				t.Fatal("a list that others may read was changed")
			}
			if random.IntN(30) == 0 && len(k.tries) < maxTries {
				stamp := limits.Stamp{Seq: uint64(i)}
				k.addTry(stamp, len(k.pending))
				included[stamp] = total
			}
			if len(k.pending) > maxPending || sum(k.pending) != total {
				t.Fatalf("%d pending messages count %d, want at most %d that count %d", len(k.pending), sum(k.pending), maxPending, total)
			}
			for _, try := range k.tries {
				if got := sum(k.pending[:try.included]); got != included[try.stamp] {
					t.Fatalf("a try included %d, want %d", got, included[try.stamp])
				}
			}
		}
	}
}

// If there are more tries than are remembered, the first one counts as made.
func TestKnownRow_TooManyTries(t *testing.T) {
	k := &knownRow{stripe: &stripe{}}
	for i := range maxTries + 3 {
		k.addPending(len(k.pending), limits.Spent{At: int64(i), N: 1})
		k.addTry(limits.Stamp{Seq: uint64(i)}, len(k.pending))
	}
	if k.stripe.lost != 3 || len(k.tries) != maxTries || len(k.pending) != maxTries || k.tries[0].included != 1 || k.pending[0].At != 3 {
		t.Errorf("%d tries, the first of which included %d, and %d messages, the first at %d", len(k.tries), k.tries[0].included, len(k.pending), k.pending[0].At)
	}
	if n := k.withdraw(limits.Stamp{Seq: maxTries}); n != maxTries-2 || len(k.tries) != maxTries-1 {
		t.Errorf("the withdrawn try included %d, and %d tries are left", n, len(k.tries))
	}
}
