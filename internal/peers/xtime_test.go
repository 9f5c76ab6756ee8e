package peers

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard"
)

// xtimeStep is the time unit of the peer's tests: most of its limits refill one token per step.
const xtimeStep = 100 * time.Millisecond

// xtime has the facts in rate_test.go of golang.org/x/time/rate 0.16.0. Its sometimes_test.go is
// about something else than limits.
func xtime(f *facts) {
	f.group("rates", xtimeRates)
	f.group("bursts", xtimeBursts)
	f.group("clock jumps back", xtimeJumpBack)
	f.group("many requests", xtimeMany)
	f.group("waits", xtimeWaits)
	f.group("no refill", xtimeNoRefill)
	f.group("reservations", xtimeReservations)
	f.lacks(1, "the number that stands for an unlimited rate")
}

// xtimeTokens is a step of the peer's tables: the tokens that are left before a message, and
// whether it passes.
func xtimeTokens(at, tokens, cost int, ok bool) []step {
	t := time.Duration(at) * xtimeStep
	if cost == 0 {
		return []step{{at: t, do: left, want: []fact{remaining(tokens)}}, {at: t, do: left, want: []fact{allowed(ok)}}}
	}
	return []step{{at: t, do: left, want: []fact{remaining(tokens)}}, {at: t, cost: cost, want: []fact{allowed(ok)}}}
}

// xtimeRates checks that a bucket of 1 regains its token after the interval of the rate.
func xtimeRates(f *facts) {
	for _, interval := range []time.Duration{
		time.Microsecond, time.Millisecond, 10 * time.Millisecond, xtimeStep, time.Second, 2 * time.Second,
		2500 * time.Millisecond, 4 * time.Second, 10 * time.Second,
	} {
		f.run(chatguard.TokenBucketLimit("x", 1, interval), step{}, step{want: []fact{retryAfter(interval)}})
	}
	for _, interval := range []time.Duration{0, -1} {
		f.differs("an interval of 0 or less", refuses(interval), "unlimited", "refused",
			"no limit is written as a policy without it, so that a forgotten number can't open a room; either is right")
	}
	f.differs("an interval of 1ns", refuses(1), "accepted", "refused", xtimeRange)
	f.differs("an interval of 292 years", refuses(math.MaxInt64), "accepted", "refused", xtimeRange)
}

const xtimeRange = "one token takes from 1 µs to 146 years in chatguard, so that every wait is exact in 64 bits; either is right"

// refuses says whether chatguard accepts a bucket of 1 that regains its token after an interval.
func refuses(interval time.Duration) string {
	policy := chatguard.Policy{Limits: []chatguard.Limit{chatguard.TokenBucketLimit("x", 1, interval)}}
	if policy.Validate() != nil {
		return "refused"
	}
	return "accepted"
}

func xtimeBursts(f *facts) {
	f.run(chatguard.TokenBucketLimit("x", 1, xtimeStep), join(
		xtimeTokens(0, 1, 1, true), xtimeTokens(0, 0, 1, false), xtimeTokens(0, 0, 1, false),
		xtimeTokens(1, 1, 1, true), xtimeTokens(1, 0, 1, false), xtimeTokens(1, 0, 1, false),
		xtimeTokens(2, 1, 2, false), xtimeTokens(2, 1, 1, true), xtimeTokens(2, 0, 1, false),
	)...)
	f.run(chatguard.TokenBucketLimit("x", 3, xtimeStep), join(
		xtimeTokens(0, 3, 2, true), xtimeTokens(0, 1, 2, false), xtimeTokens(0, 1, 1, true), xtimeTokens(0, 0, 1, false),
		xtimeTokens(1, 1, 4, false), xtimeTokens(2, 2, 1, true), xtimeTokens(3, 2, 1, true),
		xtimeTokens(4, 2, 1, true), xtimeTokens(4, 1, 1, true), xtimeTokens(4, 0, 1, false), xtimeTokens(4, 0, 1, false),
		xtimeTokens(9, 3, 3, true), xtimeTokens(9, 0, 0, true),
	)...)
	f.run(chatguard.TokenBucketLimit("x", 1, 1300*time.Millisecond), step{want: []fact{yes}})
}

func xtimeJumpBack(f *facts) {
	const reason = "after a step back the peer gives a token for time that it has counted already, 4 in 100 ms of a burst of 3; " +
		"chatguard counts the message at the latest time, and is right"
	f.run(chatguard.TokenBucketLimit("x", 3, xtimeStep), join(
		xtimeTokens(1, 3, 1, true), xtimeTokens(0, 2, 1, true), xtimeTokens(0, 1, 1, true),
		xtimeTokens(0, 0, 1, false), xtimeTokens(0, 0, 1, false),
		[]step{{at: xtimeStep, do: left, want: []fact{remaining(1).but(0, reason)}}, {at: xtimeStep, want: []fact{yes.but(false, reason)}}},
		xtimeTokens(1, 0, 1, false), xtimeTokens(1, 0, 1, false),
		xtimeTokens(2, 1, 1, true), xtimeTokens(2, 0, 1, false), xtimeTokens(2, 0, 1, false),
	)...)
}

func xtimeMany(f *facts) {
	g := f.guard(chatguard.TokenBucketLimit("x", 5, time.Second))
	var passed atomic.Int32
	var all sync.WaitGroup
	for range 15 {
		all.Go(func() {
			if a, err := check(g, step{}.message()); err == nil && a.Allowed {
				passed.Add(1)
			}
		})
	}
	all.Wait()
	f.holds("messages of 15 at once that pass a burst of 5", passed.Load(), int32(5))

	g = f.guard(chatguard.TokenBucketLimit("x", 100, 10*time.Millisecond))
	n := 0
	for at := time.Duration(0); at < 5*time.Second; at += 2 * time.Millisecond {
		if a, err := check(g, step{at: at}.message()); err == nil && a.Allowed {
			n++
		}
	}
	f.holds("at most the ideal number in 5 s", n <= 601, true)
	f.holds("nearly the ideal number in 5 s", n >= 599, true)
}

// xtimeWaits runs in a bubble, in which a wait takes no time.
func xtimeWaits(f *facts) {
	limit := chatguard.TokenBucketLimit("x", 3, xtimeStep)
	f.bubble(func(f *facts) {
		g := f.guardNow(limit)
		cancelled, cancel := context.WithCancel(f.Context())
		cancel()
		f.holds("a wait with an ended context", waited(cancelled, g, 1), "error after 0s")
		f.holds("a wait for more than the burst", waited(f.Context(), g, 4), "error after 0s")
		f.holds("a wait for what is there", waited(f.Context(), g, 2), "passed after 0s")
		f.holds("a wait for what isn't yet", waited(f.Context(), g, 3), "passed after 200ms")
	})
	f.bubble(func(f *facts) {
		g := f.guardNow(limit)
		f.holds("a wait for what is there", waited(f.Context(), g, 2), "passed after 0s")
		soon, cancel := context.WithCancel(f.Context())
		time.AfterFunc(xtimeStep, cancel)
		f.holds("a cancelled wait", waited(soon, g, 3), "error after 100ms")
		f.holds("a wait after the cancelled one", waited(f.Context(), g, 2), "passed after 0s")
	})
	f.bubble(func(f *facts) {
		g := f.guardNow(limit)
		soon, cancel := context.WithTimeout(f.Context(), xtimeStep)
		defer cancel()
		f.holds("a wait for what is there", waited(soon, g, 2), "passed after 0s")
		f.holds("a wait beyond the deadline", waited(soon, g, 3), "error after 0s")
		f.holds("a wait without limits", waited(f.Context(), f.guardNow(), 3), "passed after 0s")
	})
}

func xtimeNoRefill(f *facts) {
	const reason = "a bucket without a refill would hold a user for ever; chatguard refuses it as a mistake; either is right"
	for _, name := range []string{"first of a rate of 0", "second of a rate of 0", "first before the rate is set", "second before the rate is set"} {
		f.differs(name, refuses(0), "accepted", "refused", reason)
	}
	f.bubble(func(f *facts) {
		g := f.guardNow(chatguard.TokenBucketLimit("x", 1, math.MaxInt64/2))
		waited(f.Context(), g, 1)
		if err := g.SetPolicy(chatguard.Policy{Limits: []chatguard.Limit{chatguard.TokenBucketLimit("x", 1, xtimeStep)}}); err != nil {
			f.Fatal(err)
		}
		f.holds("a wait after the rate is set", waited(f.Context(), g, 1), "passed after 100ms")
	})
	for _, name := range []string{"first of 1e-10 per second", "second of 1e-10 per second"} {
		f.differs(name, refuses(math.MaxInt64), "accepted", "refused", xtimeRange)
	}
}

// xtimeReservations has what the peer's tests of reservations say about the present. The first
// reservation of each test acts at once.
func xtimeReservations(f *facts) {
	bucket := func(burst int, refill time.Duration) chatguard.Limit {
		return chatguard.TokenBucketLimit("x", burst, refill)
	}
	for range 8 { // simple, mix, cancelled ones of 2 tokens
		f.run(bucket(2, xtimeStep), step{cost: 2, want: []fact{yes}})
	}
	for range 2 { // back in time
		f.run(bucket(2, xtimeStep), step{at: xtimeStep, cost: 2, want: []fact{yes}})
	}
	for range 3 { // with another rate or burst later
		f.run(bucket(2, 2*xtimeStep), step{cost: 2, want: []fact{yes}})
	}
	f.run(bucket(4, xtimeStep), step{cost: 4, want: []fact{yes}})
	f.run(bucket(2, xtimeStep), join(
		[]step{{cost: 3, want: []fact{never}}, {cost: 2}}, xtimeTokens(1, 1, 2, false), // mix
	)...)
	f.run(bucket(2, xtimeStep), step{cost: 2}, step{cost: 3, want: []fact{never}})                                         // cancel an invalid one
	f.run(bucket(2, xtimeStep), step{at: xtimeStep, cost: 2}, step{at: 2 * xtimeStep}, step{cost: 3, want: []fact{never}}) // back in time
	f.lacks(37, "a reservation of tokens that a bucket doesn't have yet: Reserve takes what is there, and Wait waits")
}
