package main

import (
	"fmt"
	"log"
	"runtime"
	"slices"
	"sync"
	"time"
)

// lap is the result of one contestant for one sequence.
type lap struct {
	// ns is the time per decision: wall time divided by the decisions of all goroutines.
	ns     float64
	allocs float64 // per decision
	passed float64 // fraction of messages
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
	for _, how := range []spread{uniform, zipf} {
		draws := newDraws(s.draws, crowd, how, s.layout)
		for _, procs := range s.procs {
			title := fmt.Sprintf("Decisions: %s, GOMAXPROCS %d", how, procs)
			laps, err := race(s, title, field, crowd, draws, procs)
			if err != nil {
				return err
			}
			decisionTable(title, field, laps).print(s.out, s.markdown)
		}
	}
	return nil
}

// race runs all rounds and returns each contestant's laps.
func race(s *settings, title string, field []contestant, crowd []uint64, draws []draw, procs int) ([][]lap, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	rng := newRand()
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
	start := time.Now()
	close(begin)
	done.Wait()
	elapsed := time.Since(start)
	runtime.ReadMemStats(&after)

	n := float64(len(draws))
	l := lap{ns: float64(elapsed.Nanoseconds()) / n, allocs: float64(after.Mallocs-before.Mallocs) / n}
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

func decisionTable(title string, field []contestant, laps [][]lap) *table {
	t := &table{
		title: title,
		head:  []string{"", "enforces", "ns", "lowest", "highest", "× bucket", "× peer", "allocations", "passed"},
		note: "ns: wall time per decision, median of the rounds. × bucket: divided by the fastest peer that enforces a token bucket. " +
			"× peer: divided by the fastest peer that limits at all. Allocations and passed: of the last round.",
	}
	var bucket, peer float64 // of the fastest; 0 if there is none
	faster := func(best, ns float64) float64 {
		if best == 0 {
			return ns
		}
		return min(best, ns)
	}
	for i, c := range field {
		if c.peer {
			peer = faster(peer, median(lapTimes(laps[i])))
		}
		if c.bucket {
			bucket = faster(bucket, median(lapTimes(laps[i])))
		}
	}
	for i, c := range field {
		ns := lapTimes(laps[i])
		mid := median(ns)
		last := laps[i][len(laps[i])-1]
		t.add(c.name, c.enforces, fmt.Sprintf("%.0f", mid), fmt.Sprintf("%.0f", slices.Min(ns)), fmt.Sprintf("%.0f", slices.Max(ns)),
			ratio(mid, bucket), ratio(mid, peer), fmt.Sprintf("%.2f", last.allocs), fmt.Sprintf("%.0f %%", 100*last.passed))
	}
	return t
}

func ratio(a, b float64) string {
	if b == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", a/b)
}

func lapTimes(laps []lap) []float64 {
	ns := make([]float64, len(laps))
	for i, l := range laps {
		ns[i] = l.ns
	}
	return ns
}
