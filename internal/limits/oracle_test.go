package limits

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// oracle is the obvious way of doing it: a bucket that is refilled step by step, and a tally for each date. It has no idea of waiting: it
// tries again until it passes.
type oracle struct {
	burst, refill, messages int64
	location                *time.Location

	last   int64            // the latest time spent at
	level  int64            // what is in the bucket, in nanoseconds of refilling
	filled int64            // when that was
	tally  map[string]int64 // by local date
}

func (o *oracle) at(t int64) int64 {
	if t < o.last-int64(time.Minute) {
		o.jump(t)
	}
	return max(t, o.last)
}

// jump follows a clock that went back: the bucket fills when it would have, but is empty at worst, and the day's tally becomes that of the
// day it is now.
func (o *oracle) jump(t int64) {
	if t < o.filled {
		o.level, o.filled = max(0, o.level-(o.filled-t)), t
	}
	from, to := o.date(o.last), o.date(t)
	if from != to {
		o.tally = map[string]int64{to: o.tally[from]}
	}
	o.last = t
}

func (o *oracle) date(t int64) string { return time.Unix(0, t).In(o.location).Format(time.DateOnly) }

func (o *oracle) bucket(t int64) int64 {
	return min(o.burst*o.refill, o.level+t-o.filled)
}

func (o *oracle) fits(t, n int64) bool {
	return o.bucket(t) >= n*o.refill && o.tally[o.date(t)]+n <= o.messages
}

func (o *oracle) spend(t, n int64) {
	o.level, o.filled, o.last = o.bucket(t)-n*o.refill, t, t
	o.tally[o.date(t)] += n
}

func TestDecisionsAgreeWithTheOracle(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		burst := int64(rapid.IntRange(1, 5).Draw(rt, "burst"))
		refill := time.Duration(rapid.SampledFrom([]int64{1, 7, 1e9, 4e9, 3600e9}).Draw(rt, "refill"))
		messages := int64(rapid.IntRange(1, 20).Draw(rt, "messages"))
		table := newTable(t, bucket(burst, refill), daily(messages, "Europe/Berlin", ""))
		// A night with a clock change is within reach, or the beginning of time.
		now := rapid.SampledFrom([]int64{time.Date(2026, 3, 28, 20, 0, 0, 0, time.UTC).UnixNano(), 4 * 3600e9}).Draw(rt, "beginning")
		o := &oracle{burst: burst, refill: int64(refill), messages: messages, location: berlin, level: burst * int64(refill), tally: map[string]int64{}}
		steps := []int64{0, 1, int64(refill) - 1, int64(refill), 1e9, 30e9, 3600e9, 5 * 3600e9, -1, -30e9, -60e9, -61e9, -2 * 3600e9}
		for range rapid.IntRange(1, 60).Draw(rt, "messages sent") {
			now = max(0, now+rapid.SampledFrom(steps).Draw(rt, "step"))
			n := int64(rapid.IntRange(1, 6).Draw(rt, "cost"))
			d := table.judge("7", Request{At: now, Cost: n})
			at := o.at(now)
			if want := o.fits(at, n); d.Allowed != want {
				rt.Fatalf("at %d, cost %d: allowed is %v, want %v", now, n, d.Allowed, want)
			}
			if d.Allowed {
				o.spend(at, n)
				continue
			}
			if possible := n <= burst && n <= messages; (d.RetryAt != Never) != possible {
				rt.Fatalf("cost %d of %d and %d: retry at %d", n, burst, messages, d.RetryAt)
			}
			if d.RetryAt != Never && (!o.fits(d.RetryAt, n) || o.fits(d.RetryAt-1, n)) {
				rt.Fatalf("at %d, cost %d: retry at %d, where it fits %v, and 1 ns sooner %v", now, n, d.RetryAt, o.fits(d.RetryAt, n), o.fits(d.RetryAt-1, n))
			}
		}
	})
}
