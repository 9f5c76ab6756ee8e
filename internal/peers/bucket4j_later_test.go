package peers

import (
	"errors"
	"fmt"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
)

func bucket4jRounding(f *facts) {
	g := f.bucket(10, 100*ms, 0)
	f.steps(g, step{at: 97 * ms, cost: 9, want: []fact{yes}}, step{at: 97 * ms, want: []fact{no}}, step{at: 100 * ms, want: []fact{yes}}, step{at: 100 * ms, want: []fact{no}})

	g = f.bucket(10, 100*ms, 0)
	f.steps(g, step{at: 97 * ms, cost: 9, want: []fact{yes}}, step{at: 97 * ms, want: []fact{no}})
	if _, err := inner.At(g, start.Add(97*ms)).Grant(f.Context(), chatguard.Key{ChannelID: "1", UserID: "2"}, "per-10", 10); err != nil {
		f.Fatal(err)
	}
	f.steps(g, step{at: 97 * ms, cost: 10, want: []fact{yes}}, step{at: 100 * ms, want: []fact{no.but(true,
		"tokens that fill the peer's bucket take away the part of a token that it has regained; a grant takes nothing away; either is right")}})

	wait := func(do operation, cost int, d time.Duration) step {
		return step{at: 200 * ms, do: do, cost: cost, want: []fact{no, retryAfter(d)}}
	}
	g = f.guard(chatguard.TokenBucketLimit("x", 4, time.Second))
	f.spend(g, 3)
	f.steps(g, step{do: upTo, cost: 4, want: []fact{taken(1)}}, wait(peek, 1, 800*ms), wait(check, 1, 800*ms), wait(peek, 3, 2800*ms), wait(check, 3, 2800*ms))

	g = f.guard(perTime(700_000, time.Hour), perTime(14_500, time.Minute), perTime(300, time.Second))
	const later = 12 * time.Hour
	f.steps(g, step{at: later, want: []fact{yes}}, step{at: later, cost: 299, want: []fact{yes}}, step{at: later, want: []fact{no}})
}

// bucket4jIntervals has what is refilled at intervals: a window, if all of it is refilled at once.
func bucket4jIntervals(f *facts) {
	empty := func(messages int, every time.Duration, tokens int) *chatguard.Guard {
		g := f.guard(chatguard.FixedWindowLimit("x", messages, every))
		f.spend(g, messages-tokens)
		return g
	}
	has := func(at time.Duration, n int) step { return step{at: at * ms, do: left, want: []fact{remaining(n)}} }
	f.steps(empty(9, 10*ms, 0), has(0, 0), has(4, 0), has(10, 9), has(11, 9))
	miss := func(at time.Duration, cost int, wait fact) step {
		return step{at: at, cost: cost, want: []fact{no, remaining(0), wait}}
	}
	f.steps(empty(10, time.Minute, 0), miss(0, 1, retryAfter(time.Minute)), miss(0, 10, retryAfter(time.Minute)),
		miss(15*time.Second, 1, retryAfter(45*time.Second)), miss(15*time.Second, 15, never))
	try := func(cost, left int, wait fact) step {
		return step{do: peek, cost: cost, want: []fact{no, remaining(left), wait}}
	}
	f.steps(empty(100, 100*ms, 70), try(80, 70, retryAfter(100*ms)), has(0, 70))
	f.steps(empty(100, 100*ms, 0), try(10, 0, retryAfter(100*ms)), has(0, 0))
	f.steps(empty(100, 100*ms, 10), try(120, 10, never), has(0, 10))
	f.steps(empty(10, 100*ms, 1), step{do: left, want: []fact{resetAfter(100 * ms)}})
	f.lacks(43, "a part of the capacity that is refilled at intervals: a bucket regains token by token, and a window all at once")
}

func bucket4jWaits(f *facts) {
	wait := func(cost int, d time.Duration) step {
		return step{do: peek, cost: cost, want: []fact{retryAfter(d)}}
	}
	for range 2 {
		f.steps(f.bucket(10, 100*ms, 0), wait(10, 100*ms))
	}
	f.steps(f.bucket(10, 500*ms, 0), wait(10, 500*ms))
	f.steps(f.bucket(10, 100*ms, 4), wait(7, 30*ms))
	f.steps(f.bucket(10, 100*ms, 4), step{do: peek, cost: 11, want: []fact{retryAfter(70*ms).but(time.Duration(0), bucket4jBeyond)}})
	f.steps(f.bucket(10, 100*ms, 1), step{do: left, want: []fact{resetAfter(90 * ms)}})
	f.steps(f.bucket(10, 100*ms, 4), step{do: left, want: []fact{resetAfter(60 * ms)}})
	ten, five := perTime(10, 100*ms), perTime(5, 10*ms)
	for _, limits := range [][]chatguard.Limit{{ten, five}, {five, ten}} {
		g := f.guard(ten)
		f.spend(g, 6)
		f.setPolicy(g, limits...)
		f.spend(g, 3) // 1 of 10 and 2 of 5 are left
		f.steps(g, wait(3, 20*ms), step{do: left, want: []fact{resetAfter(90 * ms)}})
	}
	g := f.bucket(10, 100*ms, 3)
	f.setPolicy(g, five, ten)
	f.steps(g, wait(3, 0), step{do: left, want: []fact{resetAfter(70 * ms)}})
}

// bucket4jConfiguration changes the limits of a bucket that has 1.8 of 3 tokens, if nothing else is
// said. What is used stays used here, which is the peer's additive strategy.
func bucket4jConfiguration(f *facts) {
	const kept = "what is used stays used in chatguard, as with the peer's additive strategy; other strategies aren't offered"
	bucket := func(burst int, refill time.Duration) chatguard.Limit {
		return chatguard.TokenBucketLimit("x", burst, refill)
	}
	changed := func(before, after chatguard.Limit, tokens int, at time.Duration) *chatguard.Guard {
		g := f.guard(before)
		f.spend(g, before.Burst-tokens)
		if err := inner.At(g, start.Add(at*ms)).SetPolicy(chatguard.Policy{Limits: []chatguard.Limit{after}}); err != nil {
			f.Fatal(err)
		}
		return g
	}
	has := func(at time.Duration, n fact) step { return step{at: at * ms, do: left, want: []fact{n}} }
	three, sixty := bucket(3, 5*ms/3), bucket(60, 1000*ms/60)
	g := changed(three, sixty, 0, 3)
	if err := inner.At(g, start.Add(3*ms)).Reset(f.Context(), chatguard.Key{ChannelID: "1", UserID: "2"}); err != nil {
		f.Fatal(err)
	}
	f.steps(g, has(3, remaining(60)))
	f.steps(changed(perTime(3, 5*ms), perTime(60, 1000*ms), 0, 3), has(3, remaining(60))) // under another name
	f.steps(changed(three, sixty, 0, 3), has(3, remaining(58)), has(7, remaining(59)))
	f.steps(changed(three, sixty, 0, 3), has(3, remaining(1).but(58, kept)), has(7, remaining(2).but(59, kept)))
	f.steps(changed(three, sixty, 0, 3), has(3, remaining(36).but(58, kept)), has(7, remaining(36).but(59, kept)), has(20, remaining(37).but(59, kept)))
	for range 3 { // as it is, additive and proportionally
		f.steps(changed(bucket(500, ms), bucket(200, ms), 500, 0), has(0, remaining(200)))
	}
	f.steps(changed(bucket(500, ms), bucket(900, ms), 200, 0), has(0, remaining(600)))
	f.steps(changed(bucket(6, 8*ms/6), bucket(3, 8*ms/3), 0, 3), has(3, remaining(1).but(0, kept)))

	y, z := perTime(60, 1000*ms), bucket(1000, ms)
	g = f.guard(perTime(3, 5*ms))
	f.setPolicy(g, z)
	f.spend(g, 999)
	f.setPolicy(g, y, z)
	f.steps(g, has(0, remaining(1)))
	f.levels(g, 0, 60, 1)
	f.lacks(6, "a change from a bucket to another algorithm that keeps its tokens")
	f.lacks(2, "tokens forced into a bucket that a change removes: a grant stays until its day or window ends")
}

func bucket4jMistakes(f *facts) {
	refused := func(name string, err error) { f.holds(name+" is refused", err != nil, true) }
	validate := func(limits ...chatguard.Limit) error { return chatguard.Policy{Limits: limits}.Validate() }
	for _, burst := range []int{-10, -5, 0} {
		refused(fmt.Sprintf("capacity %d", burst), validate(chatguard.TokenBucketLimit("x", burst, time.Minute)))
	}
	for _, refill := range []time.Duration{-10, -1, 0} {
		refused(fmt.Sprintf("period %d", refill), validate(chatguard.TokenBucketLimit("x", 10, refill*time.Minute)))
	}
	refused("a name used twice", validate(chatguard.TokenBucketLimit("x", 1, 10*time.Second), chatguard.TokenBucketLimit("x", 100, 36*time.Second)))
	g := f.guard(chatguard.TokenBucketLimit("x", 3, 20*time.Second))
	for _, do := range []operation{upTo, peek} {
		_, err := do(g, step{cost: -1}.message())
		f.holds("a cost of -1 is refused", errors.Is(err, chatguard.ErrInvalid), true)
	}
	_, err := g.Wait(f.Context(), step{cost: -1}.message())
	f.holds("a wait for -1 is refused", errors.Is(err, chatguard.ErrInvalid), true)
	for _, n := range []int{0, -1, -10} {
		_, err := g.Grant(f.Context(), chatguard.Key{ChannelID: "1", UserID: "2"}, "x", n)
		f.holds(fmt.Sprintf("%d granted tokens are refused", n), errors.Is(err, chatguard.ErrGrant), true)
	}
	wait := func(g *chatguard.Guard, m chatguard.Message) (a answer, err error) {
		a.Verdict, err = g.Wait(f.Context(), m)
		return a, err
	}
	for _, do := range []operation{check, upTo, wait} {
		a, err := do(g, step{}.message())
		f.differs("a cost of 0", fmt.Sprint(a.Spent, err), "refused", "1 <nil>", "a Message without a Cost counts as 1; either is right")
	}
	f.lacks(2, "a bucket's first tokens, given apart from its capacity")
	f.lacks(3, "a refill of several tokens at once")
	f.lacks(2, "a longest wait of 0 or less, which is a context that has ended")
	f.lacks(3, "negative numbers of tokens to give back: a verdict says what to refund")
}
