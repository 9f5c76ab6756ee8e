//go:build !race

package chatguard

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// perAlgorithm returns a limit of each algorithm. It holds three messages, and restores one after
// at least 4 s.
func perAlgorithm() map[Algorithm]Limit {
	of := map[Algorithm]Limit{
		TokenBucket: {Burst: 3, Refill: 4 * time.Second}, LeakyBucket: {Every: 4 * time.Second, Queue: 2},
		Cascade:     {Burst: 2, Refill: 4 * time.Second, ExtraBurst: 1, ExtraRefill: time.Hour},
		DailyWindow: {Messages: 3},
	}
	for _, a := range []Algorithm{FixedWindow, UserWindow, SlidingWindow, SlidingLog} {
		of[a] = Limit{Messages: 3, Every: time.Minute}
	}
	for a, l := range of {
		l.Name, l.Algorithm = "limit", a
		of[a] = l
	}
	return of
}

// Late messages between others lift no limit, and Explain says so. A user's stamps are alternately
// those of a clock and more than a minute before.
func TestCheck_LateBetweenOthers(t *testing.T) {
	for a, l := range perAlgorithm() {
		for _, late := range []time.Duration{61 * time.Second, 75 * time.Second, time.Hour} {
			t.Run(fmt.Sprintf("%s/%v", a, late), func(t *testing.T) {
				g := newEnforcingGuard(t, func(p *Policy) { p.Limits = []Limit{l} }, nil)
				allowed := 0
				for i := range 1000 {
					m := messageFrom("7", 45+float64(i)/1000) // less than 4 s in all, within one minute
					if i%2 == 1 {
						m.SentAt = m.SentAt.Add(-late)
					}
					e := explain(t, g, m)
					v := mustCheck(t, g, m)
					if v.Allowed {
						allowed++
					}
					if e.Allowed != v.Allowed || e.RetryAfter != v.RetryAfter {
						t.Fatalf("message %d: %v, explained as %v", i, v, e.Verdict)
					}
				}
				if allowed != 3 {
					t.Errorf("%d of 1000 messages are allowed, want 3", allowed)
				}
			})
		}
	}
}

// Late messages, by some seconds, minutes or an hour, count at the time of their author's last
// message. So a Guard decides as if they had been stamped with that time. Six late ones in a row
// would look like a clock that was set back.
func TestCheck_LateCountsAtLast(t *testing.T) {
	all := perAlgorithm()
	rapid.Check(t, func(rt *rapid.T) {
		l := all[rapid.SampledFrom(slices.Sorted(maps.Keys(all))).Draw(rt, "algorithm")]
		limited := func(p *Policy) { p.Limits = []Limit{l} }
		g, other := newEnforcingGuard(t, limited, nil), newEnforcingGuard(t, limited, nil)
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		lateness := rapid.SampledFrom([]float64{30, 61, 75, 600, 3600}).Draw(rt, "lateness")
		varies := rapid.Bool().Draw(rt, "varies")
		users, now, inRow := map[string]float64{"8": 0, "9": 0, "10": 0, "11": 0}, 7200.0, 0
		names := slices.Sorted(maps.Keys(users))
		for range 300 {
			now += random.Float64() * 2
			user, at := names[random.IntN(len(names))], now
			late := random.IntN(4) == 0 && users[user] > 0 && inRow < 5
			if inRow++; !late {
				inRow = 0
			} else if at -= lateness; varies {
				at -= random.Float64() * 3600
			}
			counted := max(at, users[user])
			got, want := mustCheck(t, g, messageFrom(user, at)), mustCheck(t, other, messageFrom(user, counted))
			if got.Allowed != want.Allowed || !got.Allowed && !got.At.Add(got.RetryAfter).Equal(want.At.Add(want.RetryAfter)) {
				rt.Fatalf("%s at %f, which counts at %f: %+v, want %+v", user, at, counted, got, want)
			}
			if got.Allowed {
				users[user] = counted
			}
		}
	})
}

// The clock of a program that stamps messages itself is set back by hours, and nobody tells the
// Guard. Several users wait ten seconds longer than their limit says, at most 90 s. A user who is
// alone waits a minute longer.
func TestCheck_ClockSetBack(t *testing.T) {
	for _, test := range []struct {
		users int
		wait  float64
	}{{1, 60}, {2, 11}, {5, 11}} {
		for a, l := range perAlgorithm() {
			if a == DailyWindow || a == Cascade {
				continue // they restore nothing for hours
			}
			t.Run(fmt.Sprintf("%s/%d users", a, test.users), func(t *testing.T) {
				g := newEnforcingGuard(t, func(p *Policy) { p.Limits = []Limit{l} }, nil)
				for i := range 60 { // all spend what they have
					mustCheck(t, g, messageFrom(fmt.Sprint(i%test.users), 7200))
				}
				waited := make([]float64, test.users) // since the step or the last allowed message
				for i := range 600 {
					at := float64(i) / 2
					for user := range test.users {
						if mustCheck(t, g, messageFrom(fmt.Sprint(user), at)).Allowed {
							waited[user] = at
						} else if most := test.wait + 90; at-waited[user] > most {
							t.Fatalf("user %d can't write for more than %g s", user, most)
						}
					}
				}
			})
		}
	}
}

// After a single stamp that is far ahead of the others, its author's next messages aren't
// throttled. The others may come from a clock that was just set back.
func TestCheck_OddStampAhead(t *testing.T) {
	g := newEnforcingGuard(t, nil, nil)
	mustCheck(t, g, messageFrom("8", 7200))
	g.Rewind(monday)
	mustCheck(t, g, messageFrom("7", 365*86400))
	for at := 1.0; at < 100; at += 4 {
		if v := mustCheck(t, g, messageFrom("7", at)); !v.Allowed || v.Late != 0 {
			t.Fatalf("after %g s: %+v", at, v)
		}
	}
}

// A message without a time has the time of the Guard's clock, which needs no other message to
// confirm it.
func TestCheck_OwnClockSetBack(t *testing.T) {
	for name, check := range map[string]func(g *Guard, m Message) (Verdict, error){
		"Check": func(g *Guard, m Message) (Verdict, error) { return g.Check(t.Context(), m) },
		"CheckAll": func(g *Guard, m Message) (Verdict, error) {
			var v [1]Verdict
			err := g.CheckAll(t.Context(), []Message{m}, v[:])
			return v[0], err
		},
	} {
		now := monday.Add(2 * time.Hour)
		g := newEnforcingGuard(t, nil, &Options{Now: func() time.Time { return now }})
		m := messageFrom("7", 0)
		m.SentAt = time.Time{}
		for range 4 {
			mustCheck(t, g, m)
		}
		now = monday
		if v, err := check(g, m); v.Allowed || v.RetryAfter != 4*time.Second || err != nil {
			t.Errorf("%s after the clock was set back: %+v, %v", name, v, err)
		}
	}
}
