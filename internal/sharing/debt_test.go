package sharing

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/chatguard/chatguard/internal/limits"
)

// However much a row owes, it keeps few of them, and what each try included
// stays known.
func TestDebt_Compact(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	sum := func(messages []limits.Spent) (n int64) {
		for _, spent := range messages {
			n += spent.N
		}
		return n
	}
	for range 40 {
		var k debt
		total, included := int64(0), map[limits.Stamp]int64{}
		for i := range 500 {
			before := k.spent
			was := slices.Clone(before)
			n := int64(1 + random.IntN(3))
			k.spend(len(k.spent), nil, limits.Spent{At: int64(i), N: n})
			k.compact()
			if total += n; !slices.Equal(before, was) {
				t.Fatal("a list that others may read was changed")
			}
			if random.IntN(30) == 0 && len(k.tries) < maxTries {
				stamp := limits.Stamp{Seq: uint64(i)}
				k.addTry(stamp, len(k.spent))
				included[stamp] = total
			}
			if len(k.spent) > maxSpent || sum(k.spent) != total {
				t.Fatalf("%d messages count %d, want at most %d that count %d", len(k.spent), sum(k.spent), maxSpent, total)
			}
			for _, try := range k.tries {
				if got := sum(k.spent[:try.included]); got != included[try.stamp] {
					t.Fatalf("a try included %d, want %d", got, included[try.stamp])
				}
			}
		}
	}
}

// If there are more tries than are remembered, the first one counts as made.
func TestDebt_TooManyTries(t *testing.T) {
	var k debt
	assumed := 0
	for i := range maxTries + 3 {
		k.spend(len(k.spent), nil, limits.Spent{At: int64(i), N: 1})
		if k.addTry(limits.Stamp{Seq: uint64(i)}, len(k.spent)) {
			assumed++
		}
	}
	if assumed != 3 || len(k.tries) != maxTries || len(k.spent) != maxTries || k.tries[0].included != 1 || k.spent[0].At != 3 {
		t.Errorf("%d tries, the first of which included %d, and %d messages, the first at %d", len(k.tries), k.tries[0].included, len(k.spent), k.spent[0].At)
	}
	k.addTry(limits.Stamp{Seq: 99}, len(k.spent)) // the same messages again
	if n := k.withdraw(limits.Stamp{Seq: 99}); n != maxTries || len(k.tries) != maxTries {
		t.Errorf("the second try of the same messages included %d, and %d tries are left", n, len(k.tries))
	}
	if n := k.withdraw(limits.Stamp{Seq: maxTries + 2}); n != maxTries || len(k.tries) != maxTries-1 {
		t.Errorf("the withdrawn try included %d, and %d tries are left", n, len(k.tries))
	}
}
