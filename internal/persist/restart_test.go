package persist

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/limitinfo"
)

// everyAlgorithm enforces one limit of each algorithm, in every scope.
func everyAlgorithm() chatguard.Policy {
	p := policy()
	p.Limits = append(p.Limits,
		chatguard.Limit{Name: "slow", Algorithm: chatguard.LeakyBucket, Every: 20 * time.Second, Queue: 5},
		chatguard.Limit{Name: "crowd", Algorithm: chatguard.FixedWindow, Per: chatguard.PerChannel, Messages: 40, Every: 10 * time.Minute},
		chatguard.Limit{Name: "evening", Algorithm: chatguard.UserWindow, Messages: 30, Every: 12 * time.Hour, CountThrottled: true},
		chatguard.Limit{Name: "week", Algorithm: chatguard.SlidingWindow, Messages: 60, Every: 168 * time.Hour},
		chatguard.Limit{Name: "exact", Algorithm: chatguard.SlidingLog, Messages: 8, Every: 2 * time.Minute},
		chatguard.Limit{Name: "server", Algorithm: chatguard.FixedWindow, Per: chatguard.PerEverywhere, Messages: 5000, Every: 24 * time.Hour},
		chatguard.Limit{Name: "total", Algorithm: chatguard.UserWindow, Per: chatguard.PerUserEverywhere, Messages: 50, Every: 24 * time.Hour},
	)
	return p
}

// changedPolicies are possible changes to the configuration at the next start.
var changedPolicies = map[string]func(p *chatguard.Policy){
	"nothing":       func(*chatguard.Policy) {},
	"zone":          func(p *chatguard.Policy) { p.Timezone = "Pacific/Kiritimati" },
	"reset at":      func(p *chatguard.Policy) { p.Limits[1].ResetAt = "21:30" },
	"fewer":         func(p *chatguard.Policy) { p.Limits[0].Burst, p.Limits[1].Messages, p.Limits[2].Queue = 2, 5, 1 },
	"more":          func(p *chatguard.Policy) { p.Limits[0].Burst, p.Limits[1].Messages, p.Limits[6].Messages = 9, 900, 20 },
	"slower":        func(p *chatguard.Policy) { p.Limits[0].Refill, p.Limits[2].Every = time.Minute, time.Minute },
	"other windows": func(p *chatguard.Policy) { p.Limits[4].Every, p.Limits[5].Every = time.Hour, 24*time.Hour },
	"longer strikes": func(p *chatguard.Policy) {
		p.Penalties.ForgetAfter, p.Penalties.StrikeEvery = 48*time.Hour, time.Minute
	},
	"other ladder": func(p *chatguard.Policy) { p.Penalties.Ladder = p.Penalties.Ladder[3:] },
}

// A Guard that restarts with another configuration continues like a Guard that never stopped and
// gets the same change at that moment. The clock may have moved forward or back before.
func TestRestart_OtherConfigurationAndClock(t *testing.T) {
	t.Parallel()
	dir, run := t.TempDir(), 0
	users := []string{"1", "2", "18446744073709551616", "ümläut"}
	rapid.Check(t, func(rt *rapid.T) {
		run++
		path := filepath.Join(dir, fmt.Sprint(run, ".db"))
		now := start
		clock := func() time.Time { return now }
		s := open(t, path, &Options{Now: clock})
		g := guardOf(t, s, everyAlgorithm())
		// spoke marks users who have spoken. For other users, a changed day may begin at once or
		// after the old day ends, because nothing is counted.
		spoke := map[string]bool{}
		for range rapid.IntRange(1, 60).Draw(rt, "messages") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(30*time.Second)).Draw(rt, "later")))
			user := rapid.SampledFrom(users).Draw(rt, "user")
			say(t, g, user, now)
			spoke[user] = true
		}
		s.mustFlush(t, g)
		must(t, s.Close())

		now = now.Add(time.Duration(rapid.SampledFrom([]int64{0, 1, int64(time.Second), int64(time.Hour), int64(30 * time.Hour), -int64(2 * time.Second),
			-int64(2 * time.Hour), -int64(50 * time.Hour)}).Draw(rt, "clock")))
		name := rapid.SampledFrom([]string{"nothing", "zone", "reset at", "fewer", "more", "slower", "other windows", "longer strikes", "other ladder"}).Draw(rt, "change")
		p := everyAlgorithm()
		changedPolicies[name](&p)
		must(t, inner.At(g, now).SetChannelPolicy("c1", p))
		must(t, inner.At(g, now).SetPolicy(p))

		again := open(t, path, &Options{Now: clock})
		fresh := guardOf(t, again, p)
		for user := range spoke {
			for _, later := range []time.Duration{0, time.Second, time.Minute, 5 * time.Hour, 26 * time.Hour, 200 * time.Hour} {
				m := message(user, now.Add(later))
				lived, restored := explanation(t, g, m), explanation(t, fresh, m)
				for i, line := range lived {
					if line != restored[i] {
						rt.Fatalf("%s, user %s after %v:\nlived    %s\nrestored %s", name, user, later, line, restored[i])
					}
				}
			}
		}
		must(t, again.Close())
	})
}

// explanation returns the Guard's Explanation of a message, in comparable lines.
func explanation(t *testing.T, g *chatguard.Guard, m chatguard.Message) (lines []string) {
	t.Helper()
	e, err := limitinfo.Explain(t.Context(), g, m)
	must(t, err)
	e.Verdict.Series = 0 // the numbers of new series are arbitrary
	for _, l := range e.Limits {
		lines = append(lines, fmt.Sprintf("%+v", l))
	}
	e.Limits = nil
	return append(lines, fmt.Sprintf("%+v", e))
}
