package peers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard"
)

// uber has the facts in ratelimit_test.go of go.uber.org/ratelimit 0.3.1, whose Take is Guard.Wait
// here. A rate without slack is a bucket of 1, and a slack of n is a bucket of n + 1. The peer says
// what has happened at an instant; the count here is of 1 ns before, so that nothing at the instant
// itself is part of it.
func uber(f *facts) {
	f.group("unlimited", func(f *facts) {
		f.bubble(func(f *facts) {
			g, passed := f.guardNow(), 0
			for range 1000 {
				if _, err := g.Wait(f.Context(), step{}.message()); err == nil {
					passed++
				}
			}
			f.holds("1,000 without a limit take", fmt.Sprint(passed, " pass after ", time.Since(start2000)), "1000 pass after 0s")
		})
	})
	f.group("one limiter", func(f *facts) {
		f.takes([]takers{{count: 4, limits: []chatguard.Limit{paced(100, time.Second, 0)}}},
			map[time.Duration]int{time.Second: 100, 2 * time.Second: 200, 3 * time.Second: 300})
		f.takes([]takers{{count: 2, limits: []chatguard.Limit{paced(7, time.Minute, 0)}}},
			map[time.Duration]int{time.Second: 1, time.Minute: 8, 2 * time.Minute: 15})
	})
	f.group("a slow one, and later a fast one", func(f *facts) {
		slow, fast := paced(10, time.Second, 0), paced(100, time.Second, 0)
		f.takes([]takers{{count: 1, limits: []chatguard.Limit{slow, fast}}, {after: 20 * time.Second, count: 4, limits: []chatguard.Limit{fast}}},
			map[time.Duration]int{30 * time.Second: 1200})
	})
	f.group("slack", func(f *facts) {
		for _, c := range []struct {
			per         time.Duration
			slack, want int
		}{
			{time.Second, 10, 130}, {time.Second, 10, 130}, {time.Second, 20, 140}, {time.Second, 150, 270},
			{time.Second / 2, 10, 230}, {time.Second / 2, 10, 230}, {time.Second / 2, 20, 240}, {time.Second / 2, 150, 370},
		} {
			slow, fast := paced(10, time.Second, 0), paced(100, c.per, c.slack)
			f.takes([]takers{{count: 1, limits: []chatguard.Limit{slow, fast}}, {after: 2 * time.Second, count: 2, limits: []chatguard.Limit{fast}}},
				map[time.Duration]int{time.Second: 10, 3 * time.Second: c.want})
		}
	})
	f.group("most slack", func(f *facts) {
		one, late := paced(1, time.Second, 1), 2*time.Second
		f.takes([]takers{
			{after: 1, count: 1, once: true, limits: []chatguard.Limit{one}},
			{after: late + 1, count: 1, once: true, limits: []chatguard.Limit{one}}, {after: late + 2, count: 1, once: true, limits: []chatguard.Limit{one}},
			{after: late + 3, count: 1, once: true, limits: []chatguard.Limit{one}}, {after: late + 4, count: 1, once: true, limits: []chatguard.Limit{one}},
		}, map[time.Duration]int{3 * time.Second: 3, 10 * time.Second: 5})
	})
	f.group("the first three", func(f *facts) {
		const reason = "slack is saved up there before it is used, and a bucket is full at first here, as in the other peers; either is right"
		for i, want := range []time.Duration{0, 100 * time.Millisecond, 200 * time.Millisecond} {
			name := fmt.Sprintf("time of take %d", i+1)
			f.holds(name, f.lastTake(paced(10, time.Second, 0), i+1), want)
			if i == 0 {
				f.holds(name+" with slack", f.lastTake(paced(10, time.Second, 10), i+1), want)
			} else {
				f.differs(name+" with slack", f.lastTake(paced(10, time.Second, 10), i+1), want, time.Duration(0), reason)
			}
		}
	})
}

// start2000 is when a bubble begins.
var start2000 = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// paced is a rate with slack.
func paced(rate int, per time.Duration, slack int) chatguard.Limit {
	return chatguard.TokenBucketLimit(fmt.Sprintf("per-%d-%d", rate, slack), slack+1, per/time.Duration(rate))
}

// takers take one after the other from each of their limits, as often as they can.
type takers struct {
	after  time.Duration
	count  int
	once   bool
	limits []chatguard.Limit
}

// takes checks how often all takers together have taken at certain times.
func (f *facts) takes(all []takers, want map[time.Duration]int) {
	f.Helper()
	f.bubble(func(f *facts) {
		ctx, cancel := context.WithCancel(f.Context())
		guards := map[string]*chatguard.Guard{}
		for _, t := range all {
			for _, l := range t.limits {
				if guards[l.Name] == nil {
					guards[l.Name] = f.guardNow(l)
				}
			}
		}
		var taken atomic.Int32
		var running sync.WaitGroup
		for _, t := range all {
			for range t.count {
				running.Go(func() {
					time.Sleep(t.after)
					for t.takeEach(ctx, guards) {
						taken.Add(1)
						if t.once {
							return
						}
					}
				})
			}
		}
		begin := time.Now()
		for _, at := range slices.Sorted(maps.Keys(want)) {
			time.Sleep(time.Until(begin.Add(at - 1)))
			f.holds(fmt.Sprintf("takes in %s", at), int(taken.Load()), want[at])
		}
		cancel()
		running.Wait()
	})
}

// takeEach waits for each limit. It returns false if the context has ended.
func (t takers) takeEach(ctx context.Context, guards map[string]*chatguard.Guard) bool {
	for _, l := range t.limits {
		m := step{}.message()
		m.SentAt = time.Time{}
		if _, err := guards[l.Name].Wait(ctx, m); err != nil {
			return false
		}
	}
	return true
}

// lastTake returns when the last of n takes passes that all begin at once.
func (f *facts) lastTake(limit chatguard.Limit, n int) (after time.Duration) {
	f.bubble(func(f *facts) {
		g, begin := f.guardNow(limit), time.Now()
		for range n {
			m := step{}.message()
			m.SentAt = time.Time{}
			if _, err := g.Wait(f.Context(), m); err != nil {
				f.Fatal(err)
			}
		}
		after = time.Since(begin)
	})
	return after
}
