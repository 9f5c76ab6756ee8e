package peers

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
)

// bucket4j has the facts in the specifications of bucket4j-core of bucket4j 8.19.0 at commit
// 731354a7: api_specifications/regular and blocking, core_algorithms,
// ConfigurationReplacementSpecification and DetectionOfIllegalApiUsageSpecification. Its nanosecond
// is a millisecond here, because one token takes at least 1 µs. The peer runs most of them for
// several kinds of buckets, these once. What its listeners count is left out, and arguments of
// null.
func bucket4j(f *facts) {
	f.group("try", bucket4jTry)
	f.group("as much as possible", bucket4jMuch)
	f.group("blocking", bucket4jBlocking)
	f.group("available", bucket4jAvailable)
	f.group("add tokens", bucket4jAdd)
	f.group("force tokens", bucket4jForce)
	f.group("rounding", bucket4jRounding)
	f.group("intervals", bucket4jIntervals)
	f.group("waits", bucket4jWaits)
	f.group("configuration", bucket4jConfiguration)
	f.group("mistakes", bucket4jMistakes)
	f.lacks(20, "a bucket in debt: what it doesn't hold isn't allowed")
	f.lacks(18, "numbers of tokens beyond 2,147,483,647")
	f.lacks(16, "what is left of a division, which is a part of a token")
}

// bucket is a Guard with a bucket that regains its capacity in a time, and has some tokens at
// start.
func (f *facts) bucket(capacity int, period time.Duration, tokens int) *chatguard.Guard {
	f.Helper()
	g := f.guard(perTime(capacity, period))
	f.spend(g, capacity-tokens)
	return g
}

// spend spends at start, without a fact, and returns the verdict.
func (f *facts) spend(g *chatguard.Guard, cost int) (v chatguard.Verdict) {
	f.Helper()
	if cost == 0 {
		return v
	}
	a, err := check(g, step{cost: cost}.message())
	if err != nil || !a.Allowed {
		f.Fatalf("spending %d: %s, %v", cost, a, err)
	}
	return a.Verdict
}

const bucket4jBeyond = "the peer's wait is for more than the bucket can ever hold; chatguard says that waiting never helps, and is right"

func bucket4jTry(f *facts) {
	f.steps(f.bucket(10, 100*time.Minute, 0), step{want: []fact{no}})
	f.steps(f.bucket(10, 100*time.Minute, 1), step{want: []fact{yes}})
	f.steps(f.bucket(10, time.Second, 10), step{cost: 9, want: []fact{yes}}, step{cost: 6, want: []fact{no}})
	for _, c := range []struct {
		tokens, cost int
		ok           bool
		left         int
		wait         time.Duration
	}{{100, 49, true, 51, 0}, {1, 1, true, 0, 0}, {70, 80, false, 70, 10 * ms}, {0, 10, false, 0, 10 * ms}} {
		f.steps(f.bucket(100, 100*ms, c.tokens), step{cost: c.cost, want: []fact{allowed(c.ok), remaining(c.left), retryAfter(c.wait)}})
		f.steps(f.bucket(100, 100*ms, c.tokens), step{do: peek, cost: c.cost, want: []fact{allowed(c.ok), retryAfter(c.wait)}}, step{do: left, want: []fact{remaining(c.tokens)}})
	}
	f.steps(f.bucket(100, 100*ms, 10), step{cost: 120, want: []fact{no, remaining(10), never}})
	f.steps(f.bucket(100, 100*ms, 10), step{do: peek, cost: 120, want: []fact{no, never}}, step{do: left, want: []fact{remaining(10)}})
}

func bucket4jMuch(f *facts) {
	much := func(most, n int) step { return step{do: upTo, cost: most, want: []fact{taken(n)}} }
	f.steps(f.bucket(10, 100*time.Minute, 0), much(10, 0))
	f.steps(f.bucket(10, 100*time.Minute, 2), much(10, 2))
	f.steps(f.bucket(10, 100*time.Minute, 4), much(5, 4))
	for range 2 {
		f.steps(f.bucket(10, 100*time.Minute, 5), much(5, 5))
	}
	f.steps(f.bucket(10, time.Second, 10), much(10, 10), much(10, 0))
	f.steps(f.bucket(10, time.Second, 10), much(8, 8), much(8, 2), much(3, 0))
}

func bucket4jBlocking(f *facts) {
	f.bubble(func(f *facts) {
		g := f.guardNow(perTime(10, time.Second))
		f.holds("a wait for 9", waited(f.Context(), g, 9), "passed after 0s")
		f.holds("a wait for 2", waited(f.Context(), g, 2), "passed after 100ms")
		interrupted, cancel := context.WithCancel(f.Context())
		cancel()
		f.holds("an interrupted wait", waited(interrupted, g, 1), "error after 0s")
		f.holds("a wait for more than there can be", waited(f.Context(), g, math.MaxInt32), "error after 0s")
		f.holds("a wait for 1", waited(f.Context(), g, 1), "passed after 100ms")
	})
	for _, c := range []struct {
		tokens, cost int
		most, wait   time.Duration
		ok           bool
	}{
		{0, 1, time.Hour, 10 * ms, true}, {1, 1, time.Hour, 0, true},
		{0, 1, 11 * ms, 10 * ms, true}, {0, 1, 11 * ms, 10 * ms, true}, {1, 1, 11 * ms, 0, true}, {1, 1000, 11 * ms, 0, false},
		{1, 5, 40 * ms, 40 * ms, true}, {1, 5, 41 * ms, 40 * ms, true}, {1, 5, 39 * ms, 0, false},
	} {
		name := fmt.Sprintf("wait at most %s for %d with %d", c.most, c.cost, c.tokens)
		wait, ok := f.patience(f.bucket(10, 100*ms, c.tokens), c.cost, c.most)
		f.holds(name, ok, c.ok)
		f.holds("how long to "+name, wait, c.wait)
	}
	wait, ok := f.patience(f.bucket(10, 100*ms, 1), 1000, time.Hour)
	f.differs("wait for 1000 of 10", fmt.Sprint(ok, wait), "true 9.99s", "false 0s", bucket4jBeyond)
	f.lacks(4, "a wait that can't be interrupted")
}

// patience returns how long a message waits at start, and whether it passes, if it waits no longer
// than most.
func (f *facts) patience(g *chatguard.Guard, cost int, most time.Duration) (wait time.Duration, ok bool) {
	f.Helper()
	a, err := peek(g, step{cost: cost}.message())
	if err != nil {
		f.Fatal(err)
	}
	if a.Never || a.RetryAfter > most {
		return 0, false
	}
	then, err := check(g, step{at: a.RetryAfter, cost: cost}.message())
	return a.RetryAfter, err == nil && then.Allowed
}

func bucket4jAvailable(f *facts) {
	has := func(at time.Duration, n int) step { return step{at: at * ms, do: left, want: []fact{remaining(n)}} }
	for _, c := range []struct {
		capacity      int
		period        time.Duration
		tokens        int
		at            time.Duration
		left          int
		earlier, cost int
	}{
		{100, 100, 1, 49, 50, 0, 0}, {100, 100, 0, 50, 50, 0, 0}, {100, 100, 70, 50, 100, 0, 0}, {100, 100, 0, 0, 0, 0, 0}, {100, 100, 0, 120, 100, 0, 0},
		{10, 100, 10, 0, 10, 0, 0}, {10, 100, 0, 0, 0, 0, 0}, {10, 100, 5, 0, 5, 0, 0}, {10, 10_000, 10, 0, 10, 0, 0},
		{1000, 1000, 0, 40, 40, 0, 0}, {1000, 1000, 50, 1, 51, 0, 0}, {1000, 1000, 55, -1, 55, 0, 0}, {1000, 1000, 200, 10_000, 1000, 0, 0},
		{100, 1000, 0, 3, 0, 0, 0}, {100, 1000, 90, 17, 91, 0, 0}, {100, 1000, 0, 18_888, 100, 0, 0},
		{1000, 1000, 0, 40, 40, 0, 0}, {1000, 1000, 50, 1, 51, 0, 0}, {1000, 1000, 55, 0, 55, 0, 0}, {1000, 1000, 200, 10_000, 1000, 0, 0},
		{100, 1000, 0, 3, 0, 0, 0}, {100, 1000, 90, 17, 91, 0, 0}, {100, 1000, 0, 18_888, 100, 0, 0},
		{1000, 1000, 50, 0, 48, 0, 2},
		{100, 100, 0, 50, 1, 0, 49}, {100, 100, 0, 50, 0, 0, 50}, {100, 100, 0, 120, 49, 0, 51}, {100, 100, 0, 101, 0, 0, 100},
	} {
		g := f.bucket(c.capacity, c.period*ms, c.tokens)
		if c.cost > 0 {
			f.steps(g, step{at: c.at * ms, cost: c.cost, want: []fact{yes}})
		}
		f.steps(g, has(c.at, c.left))
	}
	g := f.bucket(10, 100*ms, 5)
	f.setPolicy(g, perTime(10, 100*ms), perTime(2, 100*ms))
	f.steps(g, has(0, 2))
	f.steps(f.bucket(100, 100*ms, 10), step{do: reset, want: []fact{remaining(100)}})
}

// setPolicy sets the limits at start.
func (f *facts) setPolicy(g *chatguard.Guard, limits ...chatguard.Limit) {
	f.Helper()
	if err := inner.At(g, start).SetPolicy(chatguard.Policy{Limits: limits}); err != nil {
		f.Fatal(err)
	}
}

func bucket4jAdd(f *facts) {
	for _, c := range []struct {
		capacity, tokens, add int
		at                    time.Duration
		left                  int
	}{
		{100, 0, 49, 50, 99}, {100, 0, 50, 50, 100}, {100, 0, 50, 0, 50}, {100, 0, 120, 0, 100}, {100, 0, 120, 110, 100},
		{10, 0, 10, 0, 10}, {10, 9, 1, 10, 10}, {10, 5, 6, 0, 10}, {10, 1, 4, 0, 5},
	} {
		period := 100 * ms
		g, used := f.guard(perTime(c.capacity, period)), c.capacity-c.tokens
		back := f.spend(g, min(c.add, used)) // more can't be given back
		f.spend(g, used-min(c.add, used))
		if err := inner.At(g, start.Add(c.at*ms)).Refund(f.Context(), back); err != nil {
			f.Fatal(err)
		}
		f.steps(g, step{at: c.at * ms, do: left, want: []fact{remaining(c.left)}})
	}
	f.lacks(1, "tokens for two limits of which one lacks none")
	g := f.guard(perTime(10, time.Second))
	back := f.spend(g, 1)
	if err := inner.At(g, start).Refund(f.Context(), back); err != nil {
		f.Fatal(err)
	}
	f.steps(g, step{cost: 10, want: []fact{yes}}, step{want: []fact{no}})
}

func bucket4jForce(f *facts) {
	key := chatguard.Key{ChannelID: "1", UserID: "2"}
	grant := func(g *chatguard.Guard, at time.Duration, n int) {
		if _, err := inner.At(g, start.Add(at*ms)).Grant(f.Context(), key, "per-100", n); err != nil {
			f.Fatal(err)
		}
	}
	for _, c := range []struct {
		add  int
		at   time.Duration
		left int
	}{{49, 50, 99}, {50, 50, 100}, {50, 0, 50}, {120, 0, 120}, {120, 110, 220}} {
		g := f.bucket(100, 100*ms, 0)
		grant(g, c.at, c.add)
		f.steps(g, step{at: c.at * ms, do: left, want: []fact{remaining(c.left)}})
	}
	g := f.bucket(100, 100*ms, 100)
	grant(g, 0, 10)
	f.steps(g, step{do: left, want: []fact{remaining(110)}}, step{at: 10 * ms, cost: 2, want: []fact{remaining(108)}},
		step{at: 20 * ms, cost: 3, want: []fact{remaining(105).but(107, "a bucket above its capacity regains nothing there; a grant is beside the bucket here, which regains what was used of it; either is right")}})
}
