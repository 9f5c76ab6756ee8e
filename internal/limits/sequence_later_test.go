package limits

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// sent is an allowed message.
type sent struct{ at, n int64 }

// sendSome plays random messages of user 7 against one limit. It returns the messages that passed,
// their ledger and the time after the last message.
func sendSome(rt *rapid.T, table *Table, l Limit) (passed []sent, known ledger, now int64) {
	known = (&plainPolicy{calendar: map[string]*plainCalendar{l.Name: plainCalendarOf(dailyLimit(1, "UTC", ""))}}).newLedger(l)
	now = epoch.UnixNano()
	every := orElse(l.numbersFor(Roles{}).every, aDay)
	for range rapid.IntRange(1, 20).Draw(rt, "messages") {
		n := int64(rapid.IntRange(1, 3).Draw(rt, "cost"))
		if table.judge("7", Request{At: now, Cost: n}).Allowed {
			passed = append(passed, sent{now, n})
			known.spend(now, n, l.numbersFor(Roles{}))
		}
		now += rapid.Int64Range(0, every).Draw(rt, "pause")
	}
	return passed, known, now
}

// drawSingleLimit draws a limit that holds at least two messages.
func drawSingleLimit(rt *rapid.T, algorithm string) Limit {
	l := Limit{Params: Params{Name: "x", Algorithm: algorithm}}
	drawNumbers(rt, &l)
	l.Roles, l.Reserve = nil, 0
	l.Every = drawEvery(rt)
	drawEveryOf(rt, &l)
	if algorithm == "daily-window" {
		l.Timezone, l.ResetAt, l.Period, l.FirstDay = "UTC", "", "", ""
	}
	return l
}

func levelAt(t *Table, at int64) Level {
	_, levels, _ := t.Explain("7", &Request{At: at, Cost: 1})
	return levels[0]
}

func TestRefund_WhatStillCounts(t *testing.T) {
	for _, a := range algorithms {
		t.Run(a.name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				l := drawSingleLimit(rt, a.name)
				table := newTable(t, l)
				passed, known, now := sendSome(rt, table, l)
				if len(passed) == 0 {
					return
				}
				back := rapid.SampledFrom(passed).Draw(rt, "message")
				before := levelAt(table, now)
				table.Refund("7", Refund{At: back.at, N: back.n}, now)
				after := levelAt(table, now)
				least, most := countRange(known, back, now, l.numbersFor(Roles{}))
				if got := before.Used - after.Used; got < least || got > most {
					rt.Errorf("%+v after %d ns: %d of %d are given back, want %d to %d", back, now-back.at, got, before.Used, least, most)
				}
				if _, ok := known.(*plainBucket); ok {
					if sooner := before.ResetAt - after.ResetAt; sooner < 0 || sooner > most*l.numbersFor(Roles{}).every {
						rt.Errorf("%+v after %d ns: whole %d ns sooner, of %d each", back, now-back.at, sooner, l.numbersFor(Roles{}).every)
					}
				}
			})
		})
	}
}

// countRange returns how much of a message still counts. The result is a range, because the state
// of some algorithms doesn't tell exactly.
func countRange(known ledger, m sent, now int64, p plainNumbers) (least, most int64) {
	counts := false
	switch known := known.(type) {
	case *plainCascade:
		return 0, m.n
	case *plainBucket:
		if now < m.at+p.full() { // the bucket may have been empty or full
			return 0, m.n
		}
	case *plainFixed:
		counts = m.at/p.every == now/p.every
	case *plainUser:
		counts = known.countAt(now, p) > 0 && m.at >= known.start
	case *plainDaily:
		counts = m.at/aDay == now/aDay
	case *plainSliding:
		if m.at/p.slice() == now/p.slice()-p.slices { // the remaining share of that slice
			return 0, m.n
		}
		counts = m.at/p.slice() > now/p.slice()-p.slices
	case *plainLog:
		counts = m.at > now-p.every
	}
	if counts {
		return m.n, m.n
	}
	return 0, 0
}

// Usage stays the same under a new window length, and expires within the new length.
func TestChange_NewLengthKeepsUsage(t *testing.T) {
	for _, a := range algorithms {
		if a == &dailyWindow {
			continue // its length is that of the day
		}
		t.Run(a.name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				l := drawSingleLimit(rt, a.name)
				table := newTable(t, l)
				_, _, now := sendSome(rt, table, l)
				before := levelAt(table, now)
				l.Every = drawEvery(rt)
				drawEveryOf(rt, &l)
				set := mustCompile(rt, []Limit{l}, Strikes{})[PerUser]
				table.Change(set, now)
				after := levelAt(table, now)
				if after.Used != before.Used {
					rt.Errorf("%d were used, and after the change %d", before.Used, after.Used)
				}
				p := l.numbersFor(Roles{})
				most := p.every
				switch a {
				case &tokenBucket, &leakyBucket:
					most = p.full()
				case &cascade:
					most = max(p.full(), p.extra().full())
				case &slidingWindow:
					most = 2 * p.every
				}
				if after.ResetAt > now+most {
					rt.Errorf("all is forgotten in %d ns, want %d at most", after.ResetAt-now, most)
				}
			})
		})
	}
}

// A throttled message may silence the user, as its rung of the ladder says. This never shortens an
// earlier silence. The decision says whether an earlier silence lasts longer.
func TestSilence_ShorterKeepsLonger(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ladder := rapid.SliceOfN(rapid.SampledFrom([]int64{0, 1, 1e9, 30e9, 600e9, UntilRetry}), 1, 4).Draw(rt, "ladder")
		strikes := Strikes{Every: 10 * time.Second, Forget: time.Minute, Ladder: ladder}
		sets := mustCompile(rt, []Limit{bucket(1, time.Minute)}, strikes)
		table := NewTable(sets[PerUser], 1<<30, new(Dropped))
		at, until := epoch.UnixNano(), int64(0)
		for range 40 {
			at += rapid.SampledFrom([]int64{0, 1, 1e9, 30e9, 60e9 - 1, 600e9}).Draw(rt, "step")
			cost := int64(rapid.IntRange(1, 2).Draw(rt, "cost")) // two never fit
			d := table.judge("7", Request{At: at, Cost: cost})
			if d.Allowed {
				continue
			}
			length := ladder[0]
			if d.NewStrike {
				length = ladder[min(d.Strikes, len(ladder))-1]
			}
			switch {
			case length == UntilRetry && cost == 2:
				length = 0
			case length == UntilRetry:
				length = max(d.RetryAt-at, int64(time.Second))
				length = (length + 1e9 - 1) / 1e9 * 1e9 // whole seconds
			}
			if want := length > 0 && at+length < until; d.Silenced != want {
				rt.Fatalf("silenced for %d ns from %d on, and until %d already: %v", length, at, until, d.Silenced)
			}
			if length > 0 {
				until = max(until, at+length)
			}
			if _, _, s := table.Explain("7", &Request{At: at, Cost: 1}); s.SilentUntil != until && (s.SilentUntil != 0 || until > at) {
				rt.Fatalf("silent until %d, want %d", s.SilentUntil, until)
			}
		}
	})
}

// A user gets at most one strike in every 10 s. After half an hour without a strike, the user
// starts at the first rung of the ladder again.
func TestStrikes_OneAtATime(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		table := newTable(t, bucket(1, 1000*time.Hour))
		at := epoch.UnixNano()
		table.judge("7", Request{At: at, Cost: 1})
		var given []int64
		count := 0
		for range 60 {
			at += rapid.SampledFrom([]int64{0, 1, 1e9, 9e9, 10e9, 600e9, 1790e9, 1800e9}).Draw(rt, "step")
			d := table.judge("7", Request{At: at, Cost: 1})
			if len(given) > 0 && at-given[len(given)-1] >= int64(30*time.Minute) {
				count = 0
			}
			due := len(given) == 0 || at-given[len(given)-1] >= int64(10*time.Second)
			if d.NewStrike != due {
				rt.Fatalf("a strike at %d is %v; given %d", at, d.NewStrike, given)
			}
			if due {
				given = append(given, at)
				count++
			}
			if d.Strikes != count {
				rt.Fatalf("%d strikes at %d, want %d; given %d", d.Strikes, at, count, given)
			}
		}
	})
}
