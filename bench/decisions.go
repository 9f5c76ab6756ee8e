package main

import (
	"fmt"
	"log"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/chatguard/chatguard/bench/internal/report"
	"github.com/chatguard/chatguard/bench/internal/sequence"
)

// lap is the result of one contestant for one sequence.
type lap struct {
	// wall and processor are the times per decision in nanoseconds: each is divided by the
	// decisions of all goroutines. Other programs on the machine disturb the processor time less.
	wall, processor float64
	allocs          float64 // per decision
	passed          float64 // fraction of messages
}

// measureDecisions measures the cost of a decision for each spread of messages and each number of
// processors.
func measureDecisions(s *settings, crowd []uint64) error {
	var field []contestant
	for _, c := range contestants {
		if s.only.MatchString("decisions/" + c.name) {
			field = append(field, c)
		}
	}
	if len(field) == 0 {
		return nil
	}
	for _, how := range []sequence.Spread{sequence.Uniform, sequence.Zipf} {
		draws := newDraws(s.draws, crowd, how, s.layout)
		for _, procs := range s.procs {
			title := fmt.Sprintf("Decisions: %s, GOMAXPROCS %d", how, procs)
			laps, err := race(s, title, field, crowd, draws, procs)
			if err != nil {
				return err
			}
			decisionTable(title, field, laps).Print(s.out, s.markdown)
		}
	}
	return nil
}

// race runs all rounds and returns each contestant's laps.
func race(s *settings, title string, field []contestant, crowd []uint64, draws []draw, procs int) ([][]lap, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	rng := sequence.Rand(1)
	laps := make([][]lap, len(field))
	for round := range s.rounds {
		log.Printf("%s: round %d of %d", title, round+1, s.rounds)
		for _, i := range rng.Perm(len(field)) {
			a, err := field[i].open(len(crowd), s.refill)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", field[i].name, err)
			}
			fill(a, crowd, 1)
			laps[i] = append(laps[i], run(a, draws, procs))
			if err := closeAsker(a); err != nil {
				return nil, fmt.Errorf("%s: %w", field[i].name, err)
			}
		}
	}
	return laps, nil
}

// run goes through the sequence once; each goroutine takes a part of it.
func run(a asker, draws []draw, goroutines int) lap {
	passed := make([]int, goroutines)
	begin := make(chan struct{})
	var ready, done sync.WaitGroup
	for g := range goroutines {
		own, part := fork(a), draws[g*len(draws)/goroutines:(g+1)*len(draws)/goroutines]
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-begin
			passed[g] = takeAll(own, part)
		})
	}
	ready.Wait()
	runtime.GC() // so that collecting the garbage of filling isn't measured
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start, used := time.Now(), report.ProcessorTime()
	close(begin)
	done.Wait()
	elapsed := time.Since(start)
	used = report.ProcessorTime() - used
	runtime.ReadMemStats(&after)

	n := float64(len(draws))
	l := lap{
		wall: float64(elapsed.Nanoseconds()) / n, processor: float64(used.Nanoseconds()) / n,
		allocs: float64(after.Mallocs-before.Mallocs) / n,
	}
	for _, p := range passed {
		l.passed += float64(p) / n
	}
	return l
}

func takeAll(a asker, draws []draw) (passed int) {
	for part := range slices.Chunk(draws, batch) {
		passed += a.take(part)
	}
	return passed
}

func decisionTable(title string, field []contestant, laps [][]lap) *report.Table {
	t := &report.Table{
		Title: title,
		Head:  []string{"", "enforces", "ns", "× bucket", "× peer", "processor ns", "× bucket", "× peer", "allocations", "passed"},
		Note: "ns: wall time per decision, and processor time per decision, each in the fastest round, which other programs have disturbed least. " +
			"× bucket: divided by the fastest peer that enforces a token bucket. " +
			"× peer: divided by the fastest peer that limits at all. Allocations and passed: of the last round.",
	}
	wall := compare(field, laps, func(l lap) float64 { return l.wall })
	processor := compare(field, laps, func(l lap) float64 { return l.processor })
	for i, c := range field {
		last := laps[i][len(laps[i])-1]
		cells := slices.Concat([]string{c.name, c.enforces}, wall[i], processor[i])
		t.Add(append(cells, fmt.Sprintf("%.2f", last.allocs), fmt.Sprintf("%.0f %%", 100*last.passed))...)
	}
	return t
}

// compare returns three cells for each contestant: the time of its fastest lap, and the ratios of
// that time to those of the fastest peers.
func compare(field []contestant, laps [][]lap, time func(lap) float64) (cells [][]string) {
	fastest := make([]float64, len(field))
	var bucket, peer float64 // of the fastest; 0 if there is none
	faster := func(best, ns float64) float64 {
		if best == 0 {
			return ns
		}
		return min(best, ns)
	}
	for i, c := range field {
		for _, l := range laps[i] {
			fastest[i] = faster(fastest[i], time(l))
		}
		if c.peer {
			peer = faster(peer, fastest[i])
		}
		if c.bucket {
			bucket = faster(bucket, fastest[i])
		}
	}
	for _, ns := range fastest {
		cells = append(cells, []string{fmt.Sprintf("%.0f", ns), report.Ratio(ns, bucket), report.Ratio(ns, peer)})
	}
	return cells
}
