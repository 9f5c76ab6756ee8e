package limits

import (
	"testing"

	"pgregory.net/rapid"
)

// calm is a user who never uses more than a part of a limit in real time.
type calm struct {
	ledger ledger
	p      plainNumbers
}

// newCalm returns a user who sends at most that many messages in any period of the limit's length.
func newCalm(l Limit, messages int64) calm {
	p := plainNumbers{capacity: messages, every: orElse(l.numbersFor(Roles{}).every, aDay)}
	if l.Algorithm == "token-bucket" || l.Algorithm == "leaky-bucket" || l.Algorithm == "cascade" {
		return calm{&plainBucket{}, p}
	}
	return calm{&plainLog{}, p}
}

// sends reports whether the user sends n at that time.
func (c calm) sends(at, n int64) bool {
	fits := c.ledger.fits(at, n, c.p)
	if fits {
		c.ledger.spend(at, n, c.p)
	}
	return fits
}

// drawForCalm draws a limit, and the maximum that a calm user sends.
func drawForCalm(rt *rapid.T, algorithm string) (l Limit, most int64) {
	most = int64(rapid.IntRange(1, 4).Draw(rt, "calm"))
	l = drawSingleLimit(rt, algorithm)
	capacity := 2 * most // usage before the jump, and after it
	switch algorithm {
	case "token-bucket", "cascade":
		l.Burst = capacity
	case "leaky-bucket":
		l.Queue = capacity - 1
	case "sliding-window":
		l.Messages = capacity + most // usage of the previous window, of which a part counts
	default:
		l.Messages = capacity
	}
	return l, most
}

// A clock goes back once, by any duration of more than a minute. A user who uses at most half of a
// limit in real time is never throttled. The jump hides how long ago the last message was, so the
// usage before the jump may count once more. The usage right after the jump equals the usage right
// after the last message before it.
func TestJump_CalmUsersAreNotThrottled(t *testing.T) {
	for _, a := range algorithms {
		t.Run(a.name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				l, most := drawForCalm(rt, a.name)
				user, table := newCalm(l, most), newTable(t, l)
				every := user.p.every
				now, back, last := epoch.UnixNano(), int64(0), int64(0)
				jumpAt := rapid.IntRange(1, 30).Draw(rt, "messages before")
				for i := range jumpAt + 30 {
					now += rapid.OneOf(rapid.Int64Range(0, every), rapid.SampledFrom([]int64{0, 1, every, 5 * every})).Draw(rt, "pause")
					n := rapid.Int64Range(1, most).Draw(rt, "cost")
					if !user.sends(now, n) {
						continue
					}
					if i >= jumpAt && back == 0 && last > 0 {
						// at this message, the clock is more than a minute behind the last one
						further := rapid.OneOf(rapid.Int64Range(1, 3*every), rapid.SampledFrom([]int64{1, 3600e9, 48 * 3600e9})).Draw(rt, "back by")
						back = now - last + clockJump + further
						checkUsed(rt, table, l, last, now-back)
					}
					if d := table.judge("7", Request{At: now - back, Cost: n}); !d.Allowed {
						rt.Fatalf("throttled for %d ns, %d ns after the jump by %d ns", d.RetryAt-(now-back), now-back-last, back)
					}
					last = now - back
				}
			})
		})
	}
}

// checkUsed fails unless the usage after a jump back to the time to equals the usage right after
// the message at the time last. The share of a sliding window is whole messages of its oldest
// slice, so it may be less. Shortly before that slice ends, it may be much less, because 32 bits
// can't hold it.
func checkUsed(rt *rapid.T, table *Table, l Limit, last, to int64) {
	rt.Helper()
	before, after := levelAt(table, last), levelAt(table, to)
	less := int64(0)
	if l.Algorithm == "sliding-window" {
		less = 1
		if slice := l.numbersFor(Roles{}).slice(); slice-to%slice < slice>>24 {
			less = before.Used
		}
	}
	if after.Used < before.Used-less || after.Used > before.Used {
		rt.Fatalf("%d are used after the jump, %d before", after.Used, before.Used)
	}
	if l.Algorithm == "token-bucket" || l.Algorithm == "leaky-bucket" {
		if got, want := after.ResetAt-to, before.ResetAt-last; got != want {
			rt.Fatalf("%d ns are owed after the jump, %d ns before", got, want)
		}
	}
}
