package persist

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

// BenchmarkDecisionWhileFlushing judges messages of a million users one after another: first while
// the store is idle, then while it writes flushes of 100,000 users without pause. It reports the
// 99th percentile of each, and the increase.
func BenchmarkDecisionWhileFlushing(b *testing.B) {
	s, g := newCrowd(b, manyUsers)
	var resting, flushing []time.Duration
	for b.Loop() {
		resting = append(resting, timeDecisions(b, g, decisions)...)
		s.mustFlush(b, g)

		for range dirtyUsers {
			say(b, g, userID(rand.IntN(manyUsers)), start)
		}
		var over atomic.Bool
		flushed := make(chan error)
		go func() {
			_, err := s.flush(ctx, g)
			over.Store(true)
			flushed <- err
		}()
		for !over.Load() {
			flushing = append(flushing, timeDecisions(b, g, 1000)...)
		}
		must(b, <-flushed)
	}
	before, meanwhile := percentile(resting, 99), percentile(flushing, 99)
	b.ReportMetric(float64(before.Nanoseconds())/1000, "p99-µs-resting")
	b.ReportMetric(float64(meanwhile.Nanoseconds())/1000, "p99-µs-flushing")
	b.ReportMetric(float64((meanwhile-before).Nanoseconds())/1000, "p99-µs-more")
	b.ReportMetric(float64(percentile(flushing, 100).Microseconds()), "longest-µs-flushing")
}

const decisions = 500_000

// timeDecisions makes n decisions and returns the duration of each.
func timeDecisions(b *testing.B, g *chatguard.Guard, n int) []time.Duration {
	took := make([]time.Duration, n)
	for i := range took {
		m := message(userID(rand.IntN(manyUsers)), start)
		began := time.Now()
		_, err := g.Check(ctx, m)
		took[i] = time.Since(began)
		if err != nil {
			b.Fatal(err)
		}
	}
	return took
}

// percentile sorts the times and returns the given percentile.
func percentile(times []time.Duration, percent int) time.Duration {
	slices.Sort(times)
	return times[(len(times)-1)*percent/100]
}

// BenchmarkFlushMemory reports how much a flush of 100,000 changed users raises the process's peak
// memory. This includes the memory that the Guard and SQLite use for the flush. It measures a table
// of 100,000 users and a table of a million. With the larger table, garbage may stay in memory
// longer.
func BenchmarkFlushMemory(b *testing.B) {
	for _, users := range []int{dirtyUsers, manyUsers} {
		b.Run(fmt.Sprint(users, "-users"), func(b *testing.B) {
			s, g := newCrowd(b, users)
			highest := 0.0
			for b.Loop() {
				debug.FreeOSMemory()
				idle := memoryFigure(b, "VmRSS:")
				must(b, os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)) // reset the peak
				for user := range dirtyUsers {
					say(b, g, userID(user), start)
				}
				s.mustFlush(b, g)
				highest = max(highest, memoryFigure(b, "VmHWM:")-idle)
			}
			b.ReportMetric(highest, "MiB-above-idle")
		})
	}
}

// memoryFigure returns one of this process's memory figures in MiB.
func memoryFigure(b *testing.B, name string) float64 {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	must(b, err)
	_, line, _ := strings.Cut(string(status), name)
	var kib float64
	_, err = fmt.Sscan(line, &kib)
	must(b, err)
	return kib / 1024
}
