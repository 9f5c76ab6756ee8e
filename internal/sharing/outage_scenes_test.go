//go:build !race

package sharing_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/limittest"
	"github.com/chatguard/chatguard/internal/turntest"
	"github.com/chatguard/chatguard/shared"
)

// outages are as long as a failover, a restart, a repair, and a night's mistake.
var outages = []time.Duration{time.Second, 20 * time.Second, 5 * time.Minute, time.Hour}

// aheads are for how long the clock of messages is ahead of those of the nodes: it is the same, or
// messages come late, or a platform's clock is ahead.
var aheads = []time.Duration{0, -300 * time.Millisecond, -50 * time.Second, 3 * time.Second}

// scenes returns all scenes of a limit, in an order in which any sample is mixed.
func scenes(limit chatguard.Limit) (all []scene) {
	for _, outage := range outages {
		for _, limit.Per = range limittest.Scopes {
			for _, nodes := range []int{1, 2, 3, 5} {
				for _, f := range faults {
					for _, mode := range bothModes {
						for _, below := range []bool{true, false} {
							seed := uint64(len(all))
							all = append(all, scene{limit: limit, nodes: nodes, mode: mode, fault: f, outage: outage, below: below, bursts: seed%3 == 0, ahead: aheads[seed/4%4], seed: seed})
						}
					}
				}
			}
		}
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// paysExactly reports whether what an algorithm allows in any time depends only on how much was
// spent before, not on when.
func paysExactly(a chatguard.Algorithm) bool {
	return slices.Contains([]chatguard.Algorithm{chatguard.TokenBucket, chatguard.LeakyBucket, chatguard.FixedWindow, chatguard.DailyWindow}, a)
}

// complaint returns what must not happen in a scene and has happened, or "".
func (s scene) complaint(o outcome) string {
	// Windows that begin with a message may begin at another time in each node. A store that loses
	// its rows may give a full allowance once more. Users who pause while they pay back keep a
	// message, or what they had after a pause between bursts.
	once, beyond, left := len(authors)*limittest.New(s.limit).Capacity(), 0, 0
	if !paysExactly(s.limit.Algorithm) {
		beyond = s.nodes * once
	}
	switch {
	case s.fault == backEmpty && s.nodes > 1, s.bursts:
		left = once
	case s.nodes > 1:
		left = len(authors)
	}
	switch {
	case o.degraded > 0:
		return fmt.Sprintf("%d are degraded after the outage", o.degraded)
	case o.refused > 0:
		return fmt.Sprintf("%d of %d are refused", o.refused, o.asked)
	case o.differ > 0:
		return fmt.Sprintf("%d of %d differ from one Guard alone", o.differ, o.asked)
	case s.mode != shared.Exact || s.below:
		return ""
	case s.fault == noFault && o.tooMany+o.tooFew > 0:
		return fmt.Sprintf("%d too many and %d too few", o.tooMany, o.tooFew)
	case o.beyond > beyond:
		return fmt.Sprintf("%d more are allowed in the outage than each node alone allows", o.beyond)
	case !paysExactly(s.limit.Algorithm):
		return ""
	case o.tooFew > 0:
		return fmt.Sprintf("%d too few", o.tooFew)
	case s.outage < time.Minute && o.left > left:
		return fmt.Sprintf("%d too many at the end", o.left)
	}
	return ""
}

// An outage of any length refuses nobody who stays below the limit, changes nothing at all for a
// node that is alone, and is over when it is over. Of several nodes, each allows what it would
// allow alone, and after seconds that is paid back.
func TestOutage_Scenes(t *testing.T) {
	for _, limit := range limittest.EveryAlgorithm() {
		t.Run(limit.Name, func(t *testing.T) {
			type row struct {
				mode   shared.Mode
				outage time.Duration
			}
			sums, failed := map[row]*sum{}, 0
			for _, s := range turntest.Sample(t, 50, scenes(limit)) {
				o := play(t, s)
				at := row{s.mode, s.outage}
				if sums[at] == nil {
					sums[at] = &sum{}
				}
				sums[at].add(s, o)
				if complaint := s.complaint(o); complaint != "" {
					if failed++; failed <= 10 {
						t.Errorf("%v: %s", s, complaint)
					}
				}
			}
			if failed > 10 {
				t.Errorf("and %d more scenes", failed-10)
			}
			for _, mode := range bothModes {
				for _, outage := range outages {
					if sum := sums[row{mode, outage}]; sum != nil {
						t.Logf("%-12s %-12s %6v: %v", limit.Name, mode, outage, sum)
					}
				}
			}
		})
	}
}

// sum sums up scenes.
type sum struct {
	scenes, wrong   int
	asked, refused  int // of users below the limit
	alone, differ   int // of a node that is alone
	degraded        int
	tooMany, tooFew int // by greedy users of several nodes, in one scene
	left            int
	recovery        time.Duration
}

func (x *sum) add(s scene, o outcome) {
	if x.scenes++; s.complaint(o) != "" {
		x.wrong++
	}
	x.degraded += o.degraded
	if s.below {
		x.asked, x.refused = x.asked+o.asked, x.refused+o.refused
	}
	if s.nodes == 1 {
		x.alone, x.differ = x.alone+o.asked, x.differ+o.differ
	} else if !s.below {
		x.tooMany, x.tooFew, x.left = max(x.tooMany, o.tooMany), max(x.tooFew, o.tooFew), max(x.left, o.left)
		if x.recovery >= 0 && (o.recovery < 0 || o.recovery > x.recovery) {
			x.recovery = o.recovery
		}
	}
}

func (x *sum) String() string {
	recovery := "recovery " + x.recovery.Round(time.Second).String()
	if x.recovery < 0 {
		recovery = fmt.Sprint("not recovered, ", x.left, " left")
	}
	return fmt.Sprintf("%3d of %3d scenes wrong | below: %d of %d refused | one node: %d of %d differ | several: at most %d too many, %d too few, %s | %d degraded afterwards",
		x.wrong, x.scenes, x.refused, x.asked, x.differ, x.alone, x.tooMany, x.tooFew, recovery, x.degraded)
}

// Users below their limit aren't refused in an outage, or afterwards, however many messages they
// send in it.
func TestOutage_BelowTheLimit(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := scene{
			limit:  rapid.SampledFrom(limittest.EveryAlgorithm()).Draw(rt, "limit"),
			nodes:  rapid.SampledFrom([]int{1, 2, 3, 5}).Draw(rt, "nodes"),
			mode:   rapid.SampledFrom(bothModes).Draw(rt, "mode"),
			fault:  rapid.SampledFrom(faults).Draw(rt, "fault"),
			bursts: rapid.Bool().Draw(rt, "bursts"),
			ahead:  rapid.SampledFrom(aheads).Draw(rt, "ahead"),
			seed:   rapid.Uint64().Draw(rt, "seed"),
			below:  true,
		}
		s.limit.Per = rapid.SampledFrom(limittest.Scopes).Draw(rt, "scope")
		times := rapid.SampledFrom([]int{1, 2, 10}).Draw(rt, "times") // as many messages, as often
		for _, n := range []*int{&s.limit.Burst, &s.limit.ExtraBurst, &s.limit.Messages, &s.limit.Queue} {
			*n *= times
		}
		for _, d := range []*time.Duration{&s.limit.Refill, &s.limit.ExtraRefill, &s.limit.Every} {
			if s.limit.Algorithm == chatguard.TokenBucket || s.limit.Algorithm == chatguard.LeakyBucket || s.limit.Algorithm == chatguard.Cascade {
				*d /= time.Duration(times)
			}
		}
		messages := math.Pow(10, rapid.Float64Range(0, 4).Draw(rt, "digits"))
		model := limittest.New(s.limit)
		s.gap = model.Period() / time.Duration(model.Capacity())
		s.outage = time.Duration(messages * float64(s.gap))
		if o := play(t, s); o.refused > 0 {
			rt.Fatalf("%v, about %.0f messages: %d of %d are refused", s, messages, o.refused, o.asked)
		}
	})
}
