package peers

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/httpguard"
)

// golimiter has the facts in memorystore/store_test.go and httplimit/middleware_test.go of
// github.com/sethvargo/go-limiter 0.7.1.
func golimiter(f *facts) {
	f.group("numbers of a key", golimiterSet)
	f.group("all at once", golimiterTake)
	f.group("refill", golimiterRefill)
	f.group("over HTTP", golimiterHTTP)
}

func golimiterSet(f *facts) {
	const s = time.Second
	const unknown = "a key that was never seen has 0 of 0 in the peer; chatguard says what the first message will have, and is right"
	const afresh = "other numbers for a key give the peer's key all of them afresh; chatguard keeps what is used, and is right while people write"
	set := func(g *chatguard.Guard, m chatguard.Message) (a answer, err error) {
		err = g.SetUserOverride(context.Background(), m.Key(), chatguard.UserOverride{Limits: map[string]chatguard.Override{"x": {Messages: 11}}})
		return a, err
	}
	burst := func(g *chatguard.Guard, m chatguard.Message) (a answer, err error) {
		_, err = g.Grant(context.Background(), m.Key(), "x", 5)
		return a, err
	}
	f.run(chatguard.UserWindowLimit("x", 5, 3*s),
		step{do: left, want: []fact{quota(0).but(5, unknown), remaining(0).but(5, unknown)}},
		step{want: []fact{yes, quota(5), remaining(4), atMost(3 * s)}},
		step{do: left, want: []fact{quota(5), remaining(4)}},
		step{do: set},
		step{do: left, want: []fact{quota(11), remaining(11).but(10, afresh)}},
		step{want: []fact{yes, quota(11), remaining(10).but(9, afresh), atMost(5 * s)}},
		step{do: left, want: []fact{quota(11), remaining(10).but(9, afresh)}},
		step{do: burst},
		step{want: []fact{yes, quota(11), remaining(14).but(13, afresh), atMost(5 * s)}},
		step{do: left, want: []fact{quota(11), remaining(14).but(13, afresh)}},
	)
}

func golimiterTake(f *facts) {
	for _, c := range []struct {
		tokens   int
		interval time.Duration
	}{{5, 500 * time.Millisecond}, {10, time.Second}} {
		g := f.guard(chatguard.UserWindowLimit("x", c.tokens, c.interval))
		verdicts := make([]chatguard.Verdict, 2*c.tokens)
		var all sync.WaitGroup
		for i := range verdicts {
			all.Go(func() { verdicts[i], _ = g.Check(context.Background(), step{}.message()) })
		}
		all.Wait()
		slices.SortFunc(verdicts, func(a, b chatguard.Verdict) int {
			return cmp.Or(cmp.Compare(b.Remaining, a.Remaining), cmp.Compare(b.Spent, a.Spent))
		})
		for i, v := range verdicts {
			f.holds("remaining", v.Remaining, max(0, c.tokens-i-1))
			f.holds("allowed", v.Allowed, i < c.tokens)
			f.holds("resets in time", v.ResetAt.Sub(v.At) <= c.interval, true)
		}
		f.steps(g, step{do: left, want: []fact{quota(c.tokens)}}, step{at: c.interval, want: []fact{yes}})
	}
}

// golimiterRefill checks how many tokens an empty bucket regains in a time.
func golimiterRefill(f *facts) {
	const s = time.Second
	for _, c := range []struct {
		after    time.Duration
		interval time.Duration
		want     int
	}{
		{0, s, 0}, {s / 2, s, 0}, {s - 1, s, 0}, {s, s, 1}, {50*s - s/2, s, 49}, {50*s - s/2, time.Millisecond, 49500},
	} {
		const burst = 100_000
		f.run(chatguard.TokenBucketLimit("x", burst, c.interval), step{cost: burst}, step{at: c.after, do: left, want: []fact{remaining(c.want)}})
	}
	for _, c := range []struct{ ticks, burst, want int }{{0, 1, 0}, {1, 1, 1}, {5, 2, 2}} {
		f.run(chatguard.TokenBucketLimit("x", c.burst, s), step{cost: c.burst},
			step{at: time.Duration(c.ticks) * s, do: left, want: []fact{remaining(c.want)}})
	}
}

func golimiterHTTP(f *facts) {
	const reason = "the peer cuts the time of the reset to whole seconds, so a client that waits for it is refused; chatguard rounds it up, and is right"
	for _, c := range []struct {
		tokens   int
		interval time.Duration
	}{{5, 500 * time.Millisecond}, {3, time.Second}} {
		s := f.site(chatguard.UserWindowLimit("x", c.tokens, c.interval), httpguard.ByAddress(nil), nil)
		for i := range c.tokens + 1 {
			w := s.do(request("192.0.2.1:1234"))
			f.holds("limit", w.Header().Get("X-RateLimit-Limit"), strconv.Itoa(c.tokens))
			f.holds("remaining", w.Header().Get("X-RateLimit-Remaining"), strconv.Itoa(max(0, c.tokens-i-1)))
			inTime := time.Duration(seconds(w))*time.Second <= c.interval
			if c.interval < time.Second {
				f.differs("resets in time", inTime, true, false, reason)
			} else {
				f.holds("resets in time", inTime, true)
			}
			if i == c.tokens {
				f.holds("status", w.Code, 429)
			}
		}
	}
}
