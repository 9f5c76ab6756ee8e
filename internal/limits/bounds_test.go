package limits

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// sendGreedily sends messages until it has been throttled waits times. When a message is throttled,
// sendGreedily tries again at the retry time. It returns the time of each message that passed.
func sendGreedily(table *Table, user string, from int64, waits int) (passed []int64) {
	for at := from; waits > 0 && len(passed) < 1000; {
		d := table.judge(user, Request{At: at, Cost: 1})
		if d.Allowed {
			passed = append(passed, at)
			continue
		}
		at = d.RetryAt
		waits--
	}
	return passed
}

// countWithin returns how many of the sorted times are at or after from and before until.
func countWithin(times []int64, from, until int64) int64 {
	first, _ := slices.BinarySearch(times, from)
	after, _ := slices.BinarySearch(times, until)
	return int64(after - first)
}

// Each algorithm is tested in both directions: no span allows more than intended, and a sender who
// always retries gets no less.
func TestAlgorithms_GreedySenderBounds(t *testing.T) {
	// most returns the maximum in any span of that length, both ends included.
	type bounds struct {
		limit func(capacity, every int64) Params
		most  func(capacity, every, span int64) int64
		// exact returns how many pass in that many consecutive spans of the length every, beginning
		// at from. A span doesn't include its end.
		exact func(capacity, every, from, spans int64) (least, most int64)
	}
	windows := func(capacity, every, from, spans int64) (int64, int64) {
		// all windows that the spans touch; from may be in the middle of the first
		if from%every == 0 {
			return capacity * spans, capacity * spans
		}
		return capacity * (spans + 1), capacity * (spans + 1)
	}
	for name, b := range map[string]bounds{
		"token-bucket": {
			limit: func(capacity, every int64) Params { return Params{Burst: capacity, Refill: time.Duration(every)} },
			most:  func(capacity, every, span int64) int64 { return capacity + span/every },
			exact: func(capacity, _, _, spans int64) (int64, int64) { return capacity + spans - 1, capacity + spans - 1 },
		},
		"leaky-bucket": {
			limit: func(capacity, every int64) Params { return Params{Queue: capacity - 1, Every: time.Duration(every)} },
			most:  func(capacity, every, span int64) int64 { return capacity + span/every },
			exact: func(capacity, _, _, spans int64) (int64, int64) { return capacity + spans - 1, capacity + spans - 1 },
		},
		"fixed-window": {
			limit: func(capacity, every int64) Params { return Params{Messages: capacity, Every: time.Duration(every)} },
			most:  func(capacity, every, span int64) int64 { return capacity * (span/every + 2) },
			exact: windows,
		},
		"user-window": {
			limit: func(capacity, every int64) Params { return Params{Messages: capacity, Every: time.Duration(every)} },
			most:  func(capacity, every, span int64) int64 { return capacity * (span/every + 2) },
			exact: func(capacity, _, _, spans int64) (int64, int64) { return capacity * spans, capacity * spans },
		},
		"sliding-log": {
			limit: func(capacity, every int64) Params { return Params{Messages: capacity, Every: time.Duration(every)} },
			most:  func(capacity, every, span int64) int64 { return capacity * (span/every + 1) },
			exact: func(capacity, _, _, spans int64) (int64, int64) { return capacity * spans, capacity * spans },
		},
		"sliding-window": {
			// The usage is an estimate: the last message of a window doesn't fit while any usage of
			// the previous window still counts.
			limit: func(capacity, every int64) Params { return Params{Messages: capacity, Every: time.Duration(every)} },
			most:  func(capacity, every, span int64) int64 { return capacity * (span/every + 2) },
			exact: func(capacity, every, from, spans int64) (int64, int64) {
				_, most := windows(capacity, every, from, spans)
				return (capacity-1)*spans + 1, most
			},
		},
		"daily-window": { // of UTC; every is 24 h
			limit: func(capacity, _ int64) Params { return Params{Messages: capacity} },
			most:  func(capacity, _, span int64) int64 { return capacity * (span/aDay + 2) },
			exact: func(capacity, _, from, spans int64) (int64, int64) { return windows(capacity, aDay, from, spans) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				capacity := int64(rapid.IntRange(1, 6).Draw(rt, "capacity"))
				every := rapid.SampledFrom([]int64{1, 2, 7, 1e9, 61e9, 3600e9}).Draw(rt, "every")
				switch name {
				case "daily-window":
					every = aDay
				case "sliding-window":
					every = max(every, 1e9) // in a few ns, the previous window's share would never be small
				}
				p := b.limit(capacity, every)
				p.Name, p.Algorithm = "x", name
				from := epoch.UnixNano() + rapid.Int64Range(0, 2*every).Draw(rt, "beginning")
				const spans = 5
				passed := sendGreedily(newTable(t, Limit{Params: p}), "7", from, int(spans*(capacity+2)))
				least, most := b.exact(capacity, every, from, spans)
				if got := countWithin(passed, from, from+spans*every); got < least || got > most {
					rt.Errorf("%d pass in %d spans, want %d to %d", got, spans, least, most)
				}
				for i, first := range passed {
					for k, last := range passed[i:] {
						if got := int64(k + 1); got > b.most(capacity, every, last-first) {
							rt.Fatalf("%d pass in %d ns, want %d at most", got, last-first, b.most(capacity, every, last-first))
						}
					}
				}
			})
		})
	}
}

// Messages leave a leaky bucket at intervals of at least every, and none waits longer than the
// queue allows.
func TestLeakyBucket_Spacing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		queue := int64(rapid.IntRange(0, 5).Draw(rt, "queue"))
		every := rapid.SampledFrom([]int64{1, 7, 1e9}).Draw(rt, "every")
		table := newTable(t, Limit{Params: Params{Name: "x", Algorithm: "leaky-bucket", Queue: queue, Every: time.Duration(every)}})
		at, free := epoch.UnixNano(), int64(0)
		for range 60 {
			at += rapid.Int64Range(0, every).Draw(rt, "pause")
			n := int64(rapid.IntRange(1, 3).Draw(rt, "cost"))
			d := table.judge("7", Request{At: at, Cost: n})
			if !d.Allowed {
				continue
			}
			if d.LeaveAt < free || d.LeaveAt > at+queue*every || d.LeaveAt > max(at, free) {
				rt.Fatalf("sent at %d, leaves at %d; the last is out of the way at %d", at, d.LeaveAt, free)
			}
			free = d.LeaveAt + n*every
		}
	})
}

// Several users send through their own queue and a shared one. A message passes if it would pass
// each queue alone at the same instant; it then leaves with the longer of the two delays. A message
// is throttled if at least one queue alone would throttle it. In each queue, any span contains at
// most span ÷ every + queue + 1 places.
func TestQueues_EachAsIfAlone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var limits [2]Limit
		var alone [2]*Table
		for i, scope := range []Scope{PerUser, PerChannel} {
			every := rapid.SampledFrom([]time.Duration{1, 7, time.Second, 4 * time.Second}).Draw(rt, "every")
			limits[i] = leakyLimit(every, int64(rapid.IntRange(0, 5).Draw(rt, "queue")))
			alone[i] = newTable(t, limits[i])
			limits[i] = limits[i].withName([]string{"own", "shared"}[i]).withScope(scope)
		}
		sets := compileSets(t, Strikes{}, limits[:]...)
		own, shared := NewTable(sets[PerUser], 1<<30, new(Dropped)), NewTable(sets[PerChannel], 1<<30, new(Dropped))
		places := map[string][]sent{}
		at := epoch.UnixNano()
		for range 60 {
			at += rapid.Int64Range(0, int64(max(limits[0].Every, limits[1].Every))).Draw(rt, "pause")
			user := rapid.SampledFrom([]string{"1", "2", "3"}).Draw(rt, "user")
			q := Request{At: at, Cost: int64(rapid.IntRange(1, 2).Draw(rt, "cost"))}
			var d Decision
			own.Judge(user, &q, &d, Place{Table: shared, User: theChannel})
			first, second := alone[0].Peek(user, &q), alone[1].Peek(theChannel, &q)
			if d.Allowed != (first.Allowed && second.Allowed) {
				rt.Fatalf("together allowed is %v, alone %v and %v", d.Allowed, first.Allowed, second.Allowed)
			}
			if !d.Allowed {
				continue
			}
			if want := max(first.LeaveAt, second.LeaveAt); d.LeaveAt != want {
				rt.Fatalf("leaves at %d, alone at %d and %d", d.LeaveAt, first.LeaveAt, second.LeaveAt)
			}
			alone[0].judge(user, q)
			alone[1].judge(theChannel, q)
			places[user] = append(places[user], sent{first.LeaveAt, q.Cost})
			places[theChannel] = append(places[theChannel], sent{second.LeaveAt, q.Cost})
		}
		for of, list := range places {
			l := limits[0]
			if of == theChannel {
				l = limits[1]
			}
			checkQueue(rt, list, l)
		}
	})
}

// checkQueue fails if any span of a queue holds more places than allowed. The places are sorted by
// time.
func checkQueue(rt *rapid.T, places []sent, l Limit) {
	for i, first := range places {
		cost := int64(0)
		for _, p := range places[i:] {
			cost += p.n
			if most := (p.at-first.at)/int64(l.Every) + l.Queue + 1; cost > most {
				rt.Fatalf("%s: %d leave in %d ns, want %d at most", l.Name, cost, p.at-first.at, most)
			}
		}
	}
}

// neighbours returns users whose rows are in the same shard as the user's.
func neighbours(table *Table, user string, n int) (users []string) {
	var of place
	table.fillPlace(user, &of)
	for i := 1000; len(users) < n; i++ {
		var p place
		if table.fillPlace(fmt.Sprint(i), &p); p.shard == of.shard {
			users = append(users, fmt.Sprint(i))
		}
	}
	return users
}

// The same messages have the same result in a table that drops rows and in one that doesn't. Some
// messages are late, but the clock doesn't jump back, since a dropped row can't be rewound.
func TestTidy_IsInvisible(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limits := drawLimits(rt, algorithms[rapid.IntRange(0, len(algorithms)-1).Draw(rt, "algorithm")].name)
		for i := range limits {
			limits[i].Scope, limits[i].Text, limits[i].Strikes = PerUser, SameText{}, false
		}
		strikes := Strikes{Every: 10 * time.Second, Forget: time.Duration(rapid.SampledFrom([]int64{20e9, 1800e9}).Draw(rt, "forget"))}
		sets := mustCompile(rt, limits, strikes)
		tidy, still := NewTable(sets[PerUser], 1<<30, new(Dropped)), NewTable(sets[PerUser], 1<<30, new(Dropped))
		users := append(neighbours(tidy, "7", 2), "7")
		crowd := neighbours(tidy, "7", 62)[2:]
		now := epoch.UnixNano()
		for i := range 60 {
			now += rapid.SampledFrom([]int64{0, 1, 1e9, 61e9, 125e9, 3600e9, 30 * 3600e9}).Draw(rt, "step")
			tidy.judge(crowd[i], Request{At: now, Cost: 1})
			q := Request{
				At:    now - rapid.SampledFrom([]int64{0, 0, 1, 1e9, 60e9}).Draw(rt, "late by"),
				Cost:  int64(rapid.IntRange(1, 3).Draw(rt, "cost")),
				Roles: rapid.SampledFrom([]Roles{{}, {}, rolesOf("subscriber")}).Draw(rt, "roles"),
			}
			user := rapid.SampledFrom(users).Draw(rt, "user")
			d, want := tidy.judge(user, q), still.judge(user, q)
			d.Limit, d.Set, d.Series, want.Limit, want.Set, want.Series = nil, nil, 0, nil, nil, 0
			if d != want {
				rt.Fatalf("step %d, user %s, %+v:\n got %+v\nwant %+v", i, user, q, d, want)
			}
		}
	})
}
