package main

import (
	"fmt"
	"log"
	"math"
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
	parts           []float64 // what each part of the messages contributes to wall
	allocs          float64   // per decision
	passed          float64   // fraction of messages
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
	passed, parts := make([]int, goroutines), make([][]time.Duration, goroutines)
	begin := make(chan struct{})
	var ready, done sync.WaitGroup
	for g := range goroutines {
		own, part := fork(a), draws[g*len(draws)/goroutines:(g+1)*len(draws)/goroutines]
		parts[g] = make([]time.Duration, 0, len(part)/partSize+1)
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-begin
			passed[g], parts[g] = takeAll(own, part, parts[g])
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
	for g := range goroutines {
		l.passed += float64(passed[g]) / n
		for _, part := range parts[g] {
			l.parts = append(l.parts, float64(part.Nanoseconds())/n/float64(goroutines))
		}
	}
	return l
}

// partSize is the number of messages in a part, whose time is measured. It is small, because other
// programs seldom disturb the same part in all rounds.
const partSize = 64 * batch

// takeAll checks the messages and returns the time that each part took.
func takeAll(a asker, draws []draw, times []time.Duration) (passed int, _ []time.Duration) {
	for part := range slices.Chunk(draws, partSize) {
		start := time.Now()
		for messages := range slices.Chunk(part, batch) {
			passed += a.take(messages)
		}
		times = append(times, time.Since(start))
	}
	return passed, times
}

// fastestParts returns the wall time per decision if each part takes as long as in its fastest lap.
// All laps have the same parts.
func fastestParts(laps []lap) (ns float64) {
	for i := range laps[0].parts {
		part := laps[0].parts[i]
		for _, l := range laps[1:] {
			part = min(part, l.parts[i])
		}
		ns += part
	}
	return ns
}

// fastestProcessor returns the processor time per decision of the fastest lap.
func fastestProcessor(laps []lap) float64 {
	ns := laps[0].processor
	for _, l := range laps[1:] {
		ns = min(ns, l.processor)
	}
	return ns
}

func decisionTable(title string, field []contestant, laps [][]lap) *report.Table {
	t := &report.Table{
		Title: title,
		Head:  []string{"", "enforces", "ns", "× bucket", "× peer", "processor ns", "× bucket", "× peer", "allocations", "passed"},
		Note: fmt.Sprintf("ns: wall time per decision, each %d messages in their fastest round. Processor ns: of the fastest round. ", partSize) +
			"× bucket: divided by the fastest peer that enforces a token bucket. " +
			"× peer: divided by the fastest peer that limits at all. Allocations and passed: of the last round.",
	}
	wall := compare(field, laps, fastestParts)
	processor := compare(field, laps, fastestProcessor)
	for i, c := range field {
		last := laps[i][len(laps[i])-1]
		cells := slices.Concat([]string{c.name, c.enforces}, wall[i], processor[i])
		t.Add(append(cells, fmt.Sprintf("%.2f", last.allocs), fmt.Sprintf("%.0f %%", 100*last.passed))...)
	}
	return t
}

// compare returns three cells for each contestant: the time of its laps, and the ratios of that
// time to those of the fastest peers.
func compare(field []contestant, laps [][]lap, time func([]lap) float64) (cells [][]string) {
	times := make([]float64, len(field))
	bucket, peer := math.Inf(1), math.Inf(1) // of the fastest
	for i, c := range field {
		times[i] = time(laps[i])
		if c.peer {
			peer = min(peer, times[i])
		}
		if c.bucket {
			bucket = min(bucket, times[i])
		}
	}
	for _, ns := range times {
		cells = append(cells, []string{fmt.Sprintf("%.0f", ns), report.Ratio(ns, bucket), report.Ratio(ns, peer)})
	}
	return cells
}
