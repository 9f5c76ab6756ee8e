package peers

import (
	"fmt"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
)

// levels checks how much is left of each limit.
func (f *facts) levels(g *chatguard.Guard, at time.Duration, want ...int64) {
	f.Helper()
	_, levels, _, _, err := inner.Of(g).Explain(f.Context(), step{at: at}.message())
	if err != nil || len(levels) != len(want) {
		f.Fatalf("%d limits, %v", len(levels), err)
	}
	for i, l := range levels {
		f.holds(fmt.Sprintf("left of limit %d after %s", i, at), l.Remaining, want[i])
	}
}

func clipperSeveral(f *facts) {
	second, minute := perTime(2, time.Second), perTime(3, time.Minute)
	g := f.guard(second, minute)
	f.steps(g, step{want: []fact{yes, remaining(1)}}, step{want: []fact{yes, remaining(0)}})
	f.levels(g, 0, 0, 1)
	f.steps(g, step{want: []fact{no, remaining(0), retryAfter(time.Second / 2)}})
	f.levels(g, 0, 0, 1) // as before
	f.steps(g, step{at: time.Second, want: []fact{yes}}, step{at: time.Second, want: []fact{no}})
	f.levels(g, time.Second, 1, 0)
	f.steps(g, step{at: 61 * time.Second, want: []fact{yes}})

	g = f.guard(second, minute)
	for i, user := range []string{"a", "b"} {
		at := time.Duration(i) * time.Second
		f.steps(g, step{at: at, user: user, want: []fact{yes}}, step{at: at, user: user, want: []fact{yes}}, step{at: at, user: user, want: []fact{no}},
			step{at: at, user: user + "b", do: peek, want: []fact{yes}}, step{at: at, user: user + "bc", do: peek, want: []fact{yes}},
			step{at: at + time.Second, user: user, want: []fact{yes}})
	}

	const token = time.Second / 9
	const fraction = "a ninth of a second is no whole number of nanoseconds, and the peer's bucket of 9 is 1 ns fuller than 9 of its tokens; either is right"
	g = f.guard(perTime(9, time.Second), perTime(99, time.Hour))
	f.steps(g, step{cost: 3, want: []fact{yes, retryAfter(0)}})
	f.levels(g, 0, 6, 96)
	f.steps(g, step{cost: 6, want: []fact{yes, retryAfter(0)}})
	f.levels(g, 0, 0, 90)
	f.steps(g, step{cost: 2, want: []fact{no, retryAfter(2*token-1).but(2*token, fraction)}})
	f.levels(g, 0, 0, 90)
	f.steps(g, step{at: 3 * token, cost: 2, want: []fact{yes, retryAfter(0)}})
	f.levels(g, 3*token, 1, 88)

	const ten = 10 * time.Second
	fast, slow := perTime(10, time.Second), perTime(6, time.Minute)
	g = f.guard(fast, slow)
	f.every("6 of 10 allowed", 10, func(round int) bool {
		a, err := check(g, step{}.message())
		return err == nil && a.Allowed == (round < 6)
	})
	f.steps(g, step{do: peek, want: []fact{no, retryAfter(ten)}}, step{want: []fact{no, retryAfter(ten)}},
		step{at: 50 * ms, want: []fact{no, retryAfter(ten - 50*ms)}})
	f.run2(fast, slow, step{cost: 3, want: []fact{yes}}, step{do: peek, cost: 4, want: []fact{no, retryAfter(ten)}}, step{cost: 4, want: []fact{no, retryAfter(ten)}})
	f.run2(fast, slow, step{do: peek, want: []fact{yes, retryAfter(0)}}, step{want: []fact{yes, retryAfter(0)}})
	f.run2(perTime(10, time.Second), perTime(5, time.Minute), step{cost: 3, want: []fact{yes, remaining(2)}}, step{cost: 2, want: []fact{yes, remaining(0)}})
	f.run2(perTime(8, time.Second), perTime(12, time.Second), step{cost: 4, want: []fact{yes}}, step{cost: 2, want: []fact{yes}}, step{cost: 3, want: []fact{no}},
		step{cost: 2, want: []fact{yes}}, step{want: []fact{no}}, step{at: time.Second, cost: 6, want: []fact{yes}}, step{at: time.Second, cost: 2, want: []fact{yes}},
		step{at: time.Second, want: []fact{no}})
	g = f.guard(chatguard.TokenBucketLimit("fast", 2, 50*ms), chatguard.TokenBucketLimit("slow", 2, 5*time.Second))
	f.steps(g, step{cost: 2, want: []fact{yes}})
	f.levels(g, 0, 0, 0)
	f.steps(g, step{want: []fact{no}}, step{at: 50 * ms, want: []fact{no}})
	f.levels(g, 50*ms, 1, 0)
	var seven []chatguard.Limit
	for n := range 7 {
		seven = append(seven, perTime(n+1, time.Second))
	}
	f.steps(f.guard(seven...), step{want: []fact{yes}})
	f.run2(perTime(3, time.Second), perTime(5, time.Second), join([]step{{want: []fact{yes}}, {want: []fact{yes}}, {want: []fact{yes}}, {want: []fact{no}}},
		[]step{{user: "other", want: []fact{yes}}, {user: "other", want: []fact{yes}}, {user: "other", want: []fact{yes}}, {user: "other", want: []fact{no}}},
		[]step{{at: time.Second / 3, want: []fact{yes}}})...)
}

// run2 runs steps with a new Guard that has two limits.
func (f *facts) run2(one, two chatguard.Limit, steps ...step) {
	f.Helper()
	f.steps(f.guard(one, two), steps...)
}
