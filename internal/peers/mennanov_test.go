package peers

import (
	"fmt"
	"time"

	"github.com/chatguard/chatguard"
)

// mennanov has the facts in tokenbucket_test.go, leakybucket_test.go, fixedwindow_test.go and
// slidingwindow_test.go of github.com/mennanov/limiters at commit 83bfe64 of 3 June 2026. The
// number of misses may differ by 1 or 2 in its tests of token buckets, for the sake of a real
// clock, and is exact here. Its tests run once for each store, these once.
func mennanov(f *facts) {
	f.group("token bucket", mennanovTokenBucket)
	f.group("leaky bucket", mennanovLeakyBucket)
	f.group("fixed window", mennanovFixedWindow)
	f.group("sliding window", mennanovSlidingWindow)
	f.lacks(1, "a call whose context has ended is an error there; a decision asks no store here and needs no context, unless it is shared")
	f.lacks(12, "a registry of limiters, which is what a Guard is")
}

// ms is the unit of time in several peers' tests.
const ms = time.Millisecond

// misses checks how many of some messages, sent at an interval, are throttled.
func (f *facts) misses(limit chatguard.Limit, messages int, interval time.Duration, want int) {
	f.Helper()
	g, missed := f.guard(limit), 0
	for i := range messages {
		a, err := check(g, step{at: time.Duration(i) * interval}.message())
		if err != nil {
			f.Fatal(err)
		}
		if !a.Allowed {
			missed++
		}
	}
	f.holds(fmt.Sprintf("throttled ones of %d at intervals of %s", messages, interval), missed, want)
}

func mennanovTokenBucket(f *facts) {
	bucket := func(burst int, refill time.Duration) chatguard.Limit {
		return chatguard.TokenBucketLimit("x", burst, refill)
	}
	f.misses(bucket(5, 100*ms), 10, 25*ms, 3)
	f.misses(bucket(10, 100*ms), 13, 25*ms, 0)
	f.misses(bucket(10, 100*ms), 15, 33*ms, 1)
	f.misses(bucket(10, 100*ms), 16, 33*ms, 2)
	f.misses(bucket(10, 10*ms), 20, 10*ms, 0)
	f.misses(bucket(1, 200*ms), 10, 100*ms, 5)

	pass, miss := []fact{yes, retryAfter(0)}, []fact{no, retryAfter(100 * ms)}
	f.run(bucket(2, 100*ms), step{want: pass}, step{want: pass}, step{want: miss}, step{at: 100 * ms, want: pass})
	f.run(bucket(2, 100*ms), step{want: pass}, step{want: pass}, step{want: miss}, step{do: reset}, step{want: pass})

	f.run(bucket(3, 100*ms), step{do: upTo, cost: 2, want: []fact{taken(2)}}, step{do: upTo, cost: 2, want: []fact{taken(1)}},
		step{do: upTo, cost: 2, want: []fact{taken(0)}}, step{at: 100 * ms, do: upTo, cost: 2, want: []fact{taken(1)}})

	refill := []step{{want: []fact{yes}}}
	for i, at := range []time.Duration{150, 240, 290, 360} {
		refill = append(refill, step{at: at * ms, want: []fact{yes, remaining([]int{3, 2, 2, 2}[i])}})
	}
	f.run(bucket(4, 100*ms), refill...)
	f.run(bucket(1, time.Minute), step{}, step{at: 2 * time.Second, want: []fact{no}})
	f.lacks(3, "a time after which a store forgets a bucket: rows are forgotten when nothing is used, and not sooner")
}

// mennanovLeakyBucket has a capacity of n as a queue of n - 1, because the message that leaves next
// takes no place in a queue here.
func mennanovLeakyBucket(f *facts) {
	for _, interval := range []time.Duration{200 * ms, 100 * ms, 50 * ms, 33333333, 25 * ms, 0} {
		g, now := f.guard(chatguard.LeakyBucketLimit("x", 100*ms, 9)), time.Duration(0)
		for i := range 10 {
			if i > 0 {
				now += interval
			}
			a, err := check(g, step{at: now}.message())
			if err != nil || !a.Allowed {
				f.Errorf("message %d: %s, %v", i, a, err)
			}
			now += a.Delay
		}
		f.holds(fmt.Sprintf("end of 10 messages at intervals of %s", interval), now, 9*max(100*ms, interval))
	}
	pass, wait := []fact{yes, delay(0)}, []fact{yes, delay(100 * ms)}
	full := fact{name: "wait until it is delivered", of: func(a answer) any { return a.RetryAfter }, theirs: 200 * ms}.but(100*ms,
		"the peer says when the message would be delivered, chatguard when it would be accepted, from where it is delayed 100 ms more; either is right")
	limit := chatguard.LeakyBucketLimit("x", 100*ms, 1)
	f.run(limit, step{want: pass}, step{want: wait}, step{want: []fact{no, full}}, step{at: 100 * ms, want: wait})
	f.run(limit, step{want: pass}, step{want: wait}, step{want: []fact{no, full}}, step{do: reset}, step{want: pass})
	f.run(chatguard.LeakyBucketLimit("x", time.Minute, 0), step{}, step{at: ms}, step{at: 2001 * ms, want: []fact{no}})
	f.lacks(2, "a bucket of capacity 0, which lets nothing pass")
	f.lacks(7, "a time after which a store forgets a bucket, and its old formats")
}

func mennanovFixedWindow(f *facts) {
	window := func(messages int, every time.Duration) chatguard.Limit {
		return chatguard.FixedWindowLimit("x", messages, every)
	}
	f.misses(window(2, 100*ms), 20, 25*ms, 10)
	f.misses(window(4, 100*ms), 20, 25*ms, 0)
	f.misses(window(2, 100*ms), 15, 33*ms, 5)
	pass := []fact{yes, retryAfter(0)}
	f.run(window(2, time.Second), step{want: pass}, step{want: pass}, step{want: []fact{no, retryAfter(time.Second)}}, step{at: time.Second, want: pass})
	f.run(window(2, 100*ms), step{want: pass}, step{want: pass}, step{user: "other", want: pass})
}

// mennanovSlidingWindow has messages that wait as long as they are told to.
func mennanovSlidingWindow(f *facts) {
	const s, reason = time.Second, "throttled messages count there, so each makes the wait longer; chatguard's is the least: it is refused 1 ns sooner"
	for messages, table := range []struct{ theirs, ours []time.Duration }{
		1: {[]time.Duration{0, 2 * s, 0, 2 * s, 0, 2 * s}, []time.Duration{2 * s, 2 * s, 2 * s}},
		2: {[]time.Duration{0, 0, 1666666667, 0, 833333333, 0, s, 0, s, 0}, []time.Duration{s + s/2, s / 2, s, s}},
		3: {[]time.Duration{0, 0, 0, s + s/2, 0, s / 2, 0, s, 0, s, 0}, []time.Duration{1333333334, 333333333, 333333333, s / 2}},
		4: {
			[]time.Duration{0, 0, 0, 0, s + s*2/5, 0, s * 2 / 5, 0, s/5 + s/4, 0, s / 2, 0, s / 2, 0, s / 2, 0, s / 2},
			[]time.Duration{s + s/4, s / 4, s / 4, s / 4, 333333334, 333333333, 333333333},
		},
		5: {
			[]time.Duration{0, 0, 0, 0, 0, s + s/3, 0, s / 3, 0, s / 3, 0, s / 2, 0, s / 2, 0, s / 2, 0, s / 2, 0},
			[]time.Duration{s + s/5, s / 5, s / 5, s / 5, s / 5, s / 4, s / 4, s / 4},
		},
	} {
		if messages == 0 {
			continue
		}
		g, now := f.guard(chatguard.SlidingWindowLimit("x", messages, s)), time.Duration(0)
		for _, wait := range table.theirs {
			if wait == 0 {
				f.steps(g, step{at: now, want: []fact{yes}})
				continue
			}
			ours := table.ours[0]
			table.ours = table.ours[1:]
			want := retryAfter(wait)
			if ours != wait {
				want = want.but(ours, reason)
			}
			f.steps(g, step{at: now, want: []fact{no, want}})
			now += ours
			if a, err := peek(g, step{at: now - 1}.message()); err != nil || a.Allowed {
				f.Errorf("1 ns before the end of the wait: %s, %v", a, err)
			}
		}
	}
	g := f.guard(chatguard.SlidingWindowLimit("x", 3, s))
	f.steps(g, step{want: []fact{yes}}, step{at: 1 * ms, want: []fact{yes}}, step{at: 2 * ms, want: []fact{yes}})
	first, err := check(g, step{at: 3 * ms}.message())
	if err != nil {
		f.Fatal(err)
	}
	f.holds("the fourth is allowed", first.Allowed, false)
	back := first.At.Add(first.RetryAfter).Sub(start)
	f.every("told the same instant", 3, func(round int) bool {
		at := time.Duration(3+round) * ms
		a, err := check(g, step{at: at}.message())
		return err == nil && !a.Allowed && a.RetryAfter == back-at
	})
	f.steps(g, step{at: back, want: []fact{yes, retryAfter(0)}})
}
