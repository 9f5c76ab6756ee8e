package peers

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/durations"
	"github.com/chatguard/chatguard/internal/inner"
)

// upstash has the facts in ratelimit, negative-rate, dynamic-limits, getRemainingTokens,
// resetUsedTokens, blockUntilReady, cache and duration.test.ts of Upstash's ratelimit 2.0.8 at
// commit 5b5448a, for the three algorithms that it has in one region. A negative rate is a Refund
// here, or several, and a dynamic limit is another policy. Its lists of denied addresses, its
// analytics and the hashes of its scripts aren't about limits.
func upstash(f *facts) {
	for _, name := range []string{"fixed window", "sliding window", "token bucket"} {
		f.group(name, func(f *facts) {
			limit := func(n int, every time.Duration) chatguard.Limit {
				switch name {
				case "fixed window":
					return chatguard.FixedWindowLimit("x", n, every)
				case "sliding window":
					return chatguard.SlidingWindowLimit("x", n, every)
				}
				return chatguard.TokenBucketLimit("x", n, every/time.Duration(n))
			}
			upstashRefunds(f, limit(10, 48*time.Hour))
			upstashDynamic(f, limit(10, 1000*time.Second), limit(3, 1000*time.Second))
			upstashRemaining(f, limit(10, 30*time.Second))
			upstashAttacks(f, limit(16, 4*time.Second))
		})
	}
	f.group("wait", upstashWait)
	f.group("durations", func(f *facts) {
		for text, n := range map[string]time.Duration{"100ms": 100, "2s": 2000, "3m": 180_000, "4h": 14_400_000, "5d": 432_000_000, "10ms": 10} {
			parsed, err := durations.Parse(text)
			f.holds(text, fmt.Sprint(parsed, err), fmt.Sprint(n*ms, nil))
		}
	})
	f.lacks(6, "a duration with a space")
	f.lacks(9, "answers from a cache without the store, and a store that answers too late")
}

// verdicts spends some costs at start, and returns the verdicts.
func (f *facts) verdicts(g *chatguard.Guard, costs ...int) (all []chatguard.Verdict) {
	f.Helper()
	for _, cost := range costs {
		all = append(all, f.spend(g, cost))
	}
	return all
}

// refund gives back what messages have spent, at start.
func (f *facts) refund(g *chatguard.Guard, all ...chatguard.Verdict) {
	f.Helper()
	for _, v := range all {
		if err := inner.At(g, start).Refund(f.Context(), v); err != nil {
			f.Fatal(err)
		}
	}
}

func upstashRefunds(f *facts, limit chatguard.Limit) {
	const capped = "more than was spent can be given back there, which can be used to collect tokens; chatguard never goes beyond a new user's allowance, and is right"
	has := func(n int) step { return step{do: left, want: []fact{remaining(n)}} }
	over := func(theirs int) step { return step{do: left, want: []fact{remaining(theirs).but(10, capped)}} }

	g := f.guard(limit)
	three := f.verdicts(g, 3)
	f.refund(g, three[0], three[0])
	f.steps(g, over(13), over(13), step{do: left, want: []fact{yes}})

	g = f.guard(limit)
	f.refund(g, f.verdicts(g, 2, 2)[0])
	f.steps(g, has(8))

	g = f.guard(limit)
	f.steps(g, step{do: peek, cost: 10, want: []fact{yes}})
	ten := f.verdicts(g, 7, 3)
	f.steps(g, has(0), has(0))
	f.refund(g, ten[1])
	f.steps(g, step{do: left, want: []fact{yes}}, has(3), has(3))

	g = f.guard(limit)
	ten = f.verdicts(g, 5, 5)
	f.steps(g, step{cost: 3, want: []fact{no}})
	f.refund(g, ten[0])
	f.steps(g, step{do: left, want: []fact{yes}}, step{do: peek, want: []fact{yes}})

	f.run(limit, step{do: left, want: []fact{yes}}, has(10))

	g = f.guard(limit)
	three = f.verdicts(g, 3)
	f.steps(g, has(7))
	f.refund(g, three[0], three[0])
	f.steps(g, step{do: left, want: []fact{yes}}, over(12))
	g = f.guard(limit)
	three = f.verdicts(g, 2)
	f.refund(g, three[0], three[0])
	f.steps(g, step{do: left, want: []fact{yes}}, over(1008))

	g = f.guard(limit)
	eight := f.verdicts(g, 3, 2, 3)
	f.steps(g, has(2))
	f.refund(g, eight[1])
	f.steps(g, has(4))
	f.refund(g, eight[0])
	f.steps(g, has(7), step{cost: 5, want: []fact{yes, remaining(2)}})

	g = f.guard(limit)
	f.steps(g, step{cost: 11, want: []fact{no}}, step{want: []fact{no.but(true, upstashRefused)}})
	f.steps(g, step{do: left, want: []fact{yes}}, step{cost: 2, want: []fact{yes}}, step{do: peek, want: []fact{yes}})
}

const upstashRefused = "a refused request is spent there; in chatguard it spends nothing, unless count_throttled is set; either is right"

func upstashDynamic(f *facts, ten, three chatguard.Limit) {
	refused := func(theirs, ours int) fact { return remaining(theirs).but(ours, upstashRefused) }
	f.run(three, step{do: left, want: []fact{quota(3)}}, step{cost: 3, want: []fact{yes, remaining(0)}}, step{do: left, want: []fact{quota(3)}},
		step{do: left, want: []fact{remaining(0)}}, step{do: left, want: []fact{quota(3)}})
	f.run(three, step{do: left, want: []fact{quota(3)}}, step{cost: 5, want: []fact{no, refused(0, 3)}}, step{do: left, want: []fact{quota(3)}},
		step{do: left, want: []fact{refused(0, 3)}}, step{do: left, want: []fact{quota(3)}})
	for range 2 { // with dynamic limits and without
		f.run(ten, step{cost: 5, want: []fact{yes, remaining(5)}}, step{do: left, want: []fact{quota(10)}}, step{do: left, want: []fact{remaining(5)}})
	}
	g := f.guard(three)
	f.steps(g, step{cost: 5, want: []fact{no, refused(0, 3)}}, step{do: left, want: []fact{quota(3)}})
	f.setPolicy(g, ten)
	f.steps(g, step{do: left, want: []fact{quota(10)}})
	if ten.Algorithm == chatguard.TokenBucket {
		f.steps(g, step{want: []fact{no.but(true, upstashRefused), refused(0, 9)}})
	} else {
		f.steps(g, step{want: []fact{yes, refused(4, 9)}})
	}
	f.lacks(2, "an error if the limit is changed without an option that allows it")
}

func upstashRemaining(f *facts, limit chatguard.Limit) {
	g := f.guard(limit)
	f.every("remaining and reset as in the last answer", 5, func(int) bool {
		spent, err := check(g, step{}.message())
		then, err2 := left(g, step{}.message())
		return err == nil && err2 == nil && then.Remaining == spent.Remaining && then.ResetAt.Equal(spent.ResetAt)
	})
	f.steps(g, step{do: left, want: []fact{remaining(5)}})
	for range 10 {
		f.steps(g, step{})
	}
	f.steps(g, step{do: reset, want: []fact{remaining(10)}})
}

// upstashAttacks sends requests at an even rate in two windows. About as many pass as the limit
// allows.
func upstashAttacks(f *facts, limit chatguard.Limit) {
	for _, c := range []struct {
		perSecond   float64
		cost        int
		least, most float64
	}{{3.2, 1, 12.8, 38.4}, {3.2, 3, 5.33, 16}, {6.4, 1, 16, 48}, {6.4, 3, 5.33, 16}} {
		g, passed, now := f.guard(limit), 0.0, time.Duration(0)
		for range 8 {
			for i := 0.0; i < c.perSecond; i++ {
				a, err := check(g, step{at: now, cost: c.cost}.message())
				if err != nil {
					f.Fatal(err)
				}
				if a.Allowed {
					passed++
				}
				now += time.Duration(float64(time.Second) / c.perSecond)
			}
		}
		f.holds(fmt.Sprintf("%g pass, at least %g", passed, c.least), passed >= c.least, true)
		name := fmt.Sprintf("%g pass, at most %g", passed, c.most)
		if limit.Algorithm == chatguard.TokenBucket && (c.perSecond > 4) == (c.cost == 1) {
			f.differs(name, passed <= c.most, true, false, "the tokens of 4 s come back all at once there, and one by one here, so more have come when the requests end, between two refills; either is right")
			continue
		}
		f.holds(name, passed <= c.most, true)
	}
}

func upstashWait(f *facts) {
	f.bubble(func(f *facts) {
		g := f.guardNow(chatguard.FixedWindowLimit("x", 1, 5*time.Hour))
		soon, cancel := context.WithTimeout(f.Context(), time.Second)
		defer cancel()
		f.holds("a wait for what is there", waited(soon, g, 1), "passed after 0s")
		short, cancel := context.WithTimeout(f.Context(), 1200*ms)
		defer cancel()
		result := waited(short, g, 1)
		f.holds("a wait that is too short passes", strings.HasPrefix(result, "passed"), false)
		f.differs("a wait that is too short", result, "error after 1.2s", "error after 0s",
			"the peer waits in vain until its time is over; chatguard knows at once that it is too short, and is right")
	})
	passed := 0
	g := f.guard(chatguard.TokenBucketLimit("x", 10, time.Second/2))
	for range 21 {
		if a, err := check(g, step{}.message()); err == nil && a.Allowed {
			passed++
		}
	}
	f.holds("at most 10 of 21 pass", passed <= 10, true)
}
