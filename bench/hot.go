package main

import (
	"fmt"
	"log"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/memstore"
	"golang.org/x/time/rate"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/bench/internal/report"
	"github.com/chatguard/chatguard/bench/internal/sequence"
)

// hotContestant is a limiter that judges the messages of one user. It passes either all of them, or
// three and then one an hour.
type hotContestant struct {
	name string
	open func(pass bool) (asker, error)
}

// The first one is what the others are compared with.
var hotContestants = []hotContestant{
	{"x/time/rate, sync.Map", func(pass bool) (asker, error) {
		if pass {
			return &mappedRate{limit: rate.Every(time.Microsecond), burst: many}, nil
		}
		return &mappedRate{limit: rate.Every(time.Hour), burst: burst}, nil
	}},
	{"throttled/throttled", func(pass bool) (asker, error) {
		if !pass {
			return newThrottled(1, time.Hour)
		}
		store, err := memstore.NewCtx(0)
		if err != nil {
			return nil, err
		}
		l, err := throttled.NewGCRARateLimiterCtx(store, throttled.RateQuota{MaxRate: throttled.PerSec(many), MaxBurst: many})
		return throttledPeer{l}, err
	}},
	{"chatguard, token bucket", func(pass bool) (asker, error) {
		g, err := chatguard.New(chatguard.Policy{Limits: []chatguard.Limit{hotBucket(pass)}}, nil)
		return checkNow{g}, err
	}},
	{"chatguard, token bucket, time given", func(pass bool) (asker, error) {
		g, err := chatguard.New(chatguard.Policy{Limits: []chatguard.Limit{hotBucket(pass)}}, nil)
		return &checkAt{g, time.Now()}, err
	}},
	{"chatguard, and a daily window", func(pass bool) (asker, error) {
		p := enforcing(time.Hour)
		p.Limits = []chatguard.Limit{hotBucket(pass), chatguard.DailyWindowLimit("daily", many)}
		g, err := chatguard.New(p, nil)
		return checkNow{g}, err
	}},
}

func hotBucket(pass bool) chatguard.Limit {
	if pass {
		return chatguard.TokenBucketLimit("burst", many, time.Microsecond)
	}
	return chatguard.TokenBucketLimit("burst", burst, time.Hour)
}

// mappedRate has a rate.Limiter per user, in the map that most programs use.
type mappedRate struct {
	users sync.Map // from string to *rate.Limiter
	limit rate.Limit
	burst int
}

func (p *mappedRate) take(messages []draw) (passed int) {
	for i := range messages {
		l, ok := p.users.Load(messages[i].id)
		if !ok {
			l, _ = p.users.LoadOrStore(messages[i].id, rate.NewLimiter(p.limit, p.burst))
		}
		if l.(*rate.Limiter).Allow() {
			passed++
		}
	}
	return passed
}

// The laps are short and many, so that other programs disturb at least one of them little.
const (
	hotLaps  = 200 // per round
	hotShare = 256 // each lap has this part of the messages of a round
)

// measureHot measures the cost of a decision on one user, whose row is in the processor's cache.
func measureHot(s *settings, crowd []uint64) error {
	var field []hotContestant
	var names []string
	for _, c := range hotContestants {
		if s.only.MatchString("hot/" + c.name) {
			field, names = append(field, c), append(names, c.name)
		}
	}
	if len(field) == 0 {
		return nil
	}
	draws := slices.Repeat([]draw{{id: fmt.Sprint(crowd[0])}}, max(batch, s.draws/hotShare))
	for _, procs := range s.procs {
		for _, pass := range []bool{true, false} {
			title := fmt.Sprintf("Decisions on one user: %s, GOMAXPROCS %d", outcome(pass), procs)
			log.Print(title)
			laps, err := raceHot(s, field, draws, procs, pass)
			if err != nil {
				return err
			}
			fastestTable(title, names, laps).Print(s.out, s.markdown)
		}
	}
	return nil
}

// outcome names the tables of limiters that pass everything or nothing.
func outcome(pass bool) string {
	if pass {
		return "passed"
	}
	return "refused"
}

func raceHot(s *settings, field []hotContestant, draws []draw, procs int, pass bool) ([][]lap, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	rng := sequence.Rand(1)
	askers, laps := make([]asker, len(field)), make([][]lap, len(field))
	for i, c := range field {
		var err error
		if askers[i], err = c.open(pass); err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		askers[i].take(draws[:batch]) // the user is known, and the burst used up
	}
	for range hotLaps * s.rounds {
		for _, i := range rng.Perm(len(field)) {
			laps[i] = append(laps[i], run(askers[i], draws, procs))
		}
	}
	return laps, nil
}

// fastestTable compares the fastest laps with those of the first contestant.
func fastestTable(title string, names []string, laps [][]lap) *report.Table {
	t := &report.Table{
		Title: title,
		Head:  []string{"", "ns", "× first", "processor ns", "× first", "allocations", "passed"},
		Note: "ns: wall time and processor time, each in the fastest lap. × first: divided by the first row. " +
			"Allocations and passed: of the last lap.",
	}
	var first [2]float64
	for i, name := range names {
		best, last := laps[i][0], laps[i][len(laps[i])-1]
		for _, l := range laps[i] {
			best.wall, best.processor = min(best.wall, l.wall), min(best.processor, l.processor)
		}
		if i == 0 {
			first = [2]float64{best.wall, best.processor}
		}
		t.Add(name, fmt.Sprintf("%.0f", best.wall), report.Ratio(best.wall, first[0]), fmt.Sprintf("%.0f", best.processor), report.Ratio(best.processor, first[1]),
			fmt.Sprintf("%.2f", last.allocs), fmt.Sprintf("%.0f %%", 100*last.passed))
	}
	return t
}
