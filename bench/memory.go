package main

import (
	"fmt"
	"log"
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/bench/internal/report"
)

// collections is the number of garbage collections measured; the median counts.
const collections = 9

// measureMemory measures how much heap a user takes, and how long one garbage collection takes
// while all users are present. Every user has been throttled once, so that chatguard's strikes are
// included.
func measureMemory(s *settings, crowd []uint64) error {
	t := &report.Table{
		Title: "Memory",
		Head:  []string{"", "B per user", "collection ms"},
		Note: "Live heap per user, including the user's ID if it is kept; every user was throttled once. Collection: processor time of one " +
			"garbage collection, median; the first line is without any limiter.",
	}
	if s.only.MatchString("memory/empty heap") {
		t.Add("empty heap", "", milliseconds(collectionCost()))
	}
	for _, c := range memoryContestants() {
		if !s.only.MatchString("memory/" + c.name) {
			continue
		}
		log.Printf("Memory: %s", c.name)
		perUser, collection, err := fillMemory(c, crowd, s.refill)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		t.Add(c.name, fmt.Sprintf("%.0f", perUser), milliseconds(collection))
	}
	if len(t.Rows) > 0 {
		t.Print(s.out, s.markdown)
	}
	return nil
}

// memoryContestants returns chatguard under each measured policy, and the peers.
func memoryContestants() []contestant {
	var list []contestant
	for _, m := range measured {
		list = append(list, contestant{name: m.name, open: func(_ int, refill time.Duration) (asker, error) {
			g, err := chatguard.New(m.policy(refill), nil)
			return checkNow{g}, err
		}})
	}
	return append(list, peers...)
}

func fillMemory(c contestant, crowd []uint64, refill time.Duration) (perUser float64, collection time.Duration, err error) {
	before := liveHeap()
	a, err := c.open(len(crowd), refill)
	if err != nil {
		return 0, 0, err
	}
	fill(a, crowd, burst+1)
	perUser = (float64(liveHeap()) - float64(before)) / float64(len(crowd))
	collection = collectionCost()
	err = closeAsker(a)
	runtime.KeepAlive(a)
	return perUser, collection, err
}

func liveHeap() uint64 {
	runtime.GC()
	// The first collection has only marked some memory as finished or moved it to a pool's victim
	// cache. The second one frees it.
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// collectionCost returns the processor time of one garbage collection.
func collectionCost() time.Duration {
	costs := make([]float64, collections)
	for i := range costs {
		before := collectorTime()
		runtime.GC()
		costs[i] = collectorTime() - before
	}
	return time.Duration(report.Median(costs) * float64(time.Second))
}

// collectorTime returns the processor time, in seconds, that the garbage collector has used so far
// on all processors, as counted by the runtime. It is more precise than the operating system's
// count, which uses whole ticks on some machines. Sweeping is not included.
func collectorTime() float64 {
	sample := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}}
	metrics.Read(sample)
	return sample[0].Value.Float64()
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()*1000) }
