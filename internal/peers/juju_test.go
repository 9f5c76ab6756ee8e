package peers

import (
	"fmt"
	"time"

	"github.com/chatguard/chatguard"
)

// juju has the facts in ratelimit_test.go of github.com/juju/ratelimit 1.0.2. Its NewBucketWithRate
// isn't among them: its name keeps it from being run.
func juju(f *facts) {
	f.group("take", func(f *facts) {
		f.takesInOrder(10, 250*ms, loan{0, 10, 0}, loan{0, 1, 250 * ms}, loan{250 * ms, 1, 250 * ms})
		f.takesInOrder(10, 250*ms, loan{0, 10, 0}, loan{0, 2, 500 * ms}, loan{0, 2, 1000 * ms}, loan{0, 1, 1250 * ms})
		f.takesInOrder(10, ms, loan{0, 10, 0}, loan{20 * ms, 15, 5 * ms})
		f.takesInOrder(10, 10*ms, loan{0, 10, 0}, loan{7 * ms, 1, 3 * ms}, loan{8 * ms, 1, 12 * ms})
		f.takesInOrder(5, 10*ms, loan{0, 5, 0}, loan{60 * ms, 5, 0}, loan{60 * ms, 1, 10 * ms}, loan{80 * ms, 2, 10 * ms})
		f.run(chatguard.TokenBucketLimit("x", 10, 250*ms), step{do: left, want: []fact{yes, retryAfter(0)}})
	})
	f.group("take what there is", func(f *facts) {
		some := func(at time.Duration, cost, n int) step {
			return step{at: at * ms, do: upTo, cost: cost, want: []fact{taken(n)}}
		}
		f.run(chatguard.TokenBucketLimit("x", 10, 250*ms), some(0, 10, 10), some(0, 1, 0), some(250, 1, 1))
		f.run(chatguard.TokenBucketLimit("x", 10, 250*ms), some(0, 5, 5), some(0, 2, 2), some(0, 5, 3), some(0, 1, 0))
		f.run(chatguard.TokenBucketLimit("x", 10, ms), some(0, 10, 10), some(20, 15, 10))
		f.run(chatguard.TokenBucketLimit("x", 5, 10*ms), some(0, 5, 5), some(60, 5, 5), some(70, 1, 1))
		f.lacks(1, "taking up to 0: a cost of 0 means 1 in Check and CheckUpTo, and costs nothing in httpguard")
	})
	f.group("available", func(f *facts) {
		for _, c := range []struct {
			burst       int
			refill      time.Duration
			take        int
			later       time.Duration
			after, then int
		}{
			{5, time.Second, 5, time.Second, 0, 1}, {2, time.Second, 1, time.Second, 1, 2},
			{2, 2 * time.Second, 1, time.Second, 1, 1}, {2, 2 * time.Second, 1, 3 * time.Second, 1, 2},
		} {
			f.run(chatguard.TokenBucketLimit("x", c.burst, c.refill), step{do: upTo, cost: c.take, want: []fact{taken(c.take)}},
				step{do: left, want: []fact{remaining(c.after)}}, step{at: c.later, do: left, want: []fact{remaining(c.then)}})
		}
		const pause = 5 * time.Second
		f.run(chatguard.TokenBucketLimit("x", 100, 50*ms), step{do: left, want: []fact{remaining(100)}},
			step{at: pause, do: left, want: []fact{remaining(100)}}, step{at: pause, do: upTo, cost: 100, want: []fact{taken(100)}},
			step{at: pause, do: left, want: []fact{remaining(0)}})
	})
	f.group("mistakes", func(f *facts) {
		for _, c := range []struct {
			burst  int
			refill time.Duration
		}{{1, 0}, {1, -2}, {0, 1}, {-2, 1}} {
			policy := chatguard.Policy{Limits: []chatguard.Limit{chatguard.TokenBucketLimit("x", c.burst, c.refill)}}
			f.holds(fmt.Sprintf("a bucket of %d that refills in %d ns is refused", c.burst, c.refill), policy.Validate() != nil, true)
		}
	})
	f.group("rate", func(f *facts) {
		f.differs("an interval of 1ns", refuses(1), "accepted", "refused", xtimeRange)
		f.lacks(2, "a bucket's rate as a fraction per second: a limit has the time of one token")
	})
}

// loan takes tokens at a time, and passes after a wait.
type loan struct {
	at   time.Duration
	cost int
	wait time.Duration
}

// takesInOrder checks the waits of messages of which each passes after the one before. The peer
// lends tokens to be paid back; here, a message asks again after RetryAfter, and then passes. It
// also checks that it doesn't pass 1 ns sooner.
func (f *facts) takesInOrder(burst int, refill time.Duration, loans ...loan) {
	f.Helper()
	const reason = "the peer lends more than the bucket can hold; such a message never passes in chatguard, which says so instead of a wait; either is right"
	g, now := f.guard(chatguard.TokenBucketLimit("x", burst, refill)), time.Duration(0)
	for i, r := range loans {
		now = max(now, r.at)
		if r.cost > burst {
			f.steps(g, step{at: now, do: peek, cost: r.cost, want: []fact{retryAfter(r.wait).but(time.Duration(0), reason)}})
			f.steps(g, step{at: now + r.wait, do: peek, cost: r.cost, want: []fact{yes.but(false, reason)}})
			continue
		}
		wait := r.at + r.wait - now
		f.steps(g, step{at: now, do: peek, cost: r.cost, want: []fact{retryAfter(wait)}})
		if r.wait > 0 {
			f.steps(g, step{at: now + wait - 1, do: peek, cost: r.cost, want: []fact{no}})
		}
		now += wait
		a, err := check(g, step{at: now, cost: r.cost}.message())
		f.holds(fmt.Sprintf("message %d passes after %s", i, r.wait), fmt.Sprint(a.Allowed, err), "true <nil>")
	}
}
