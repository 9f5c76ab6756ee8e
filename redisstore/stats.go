package redisstore

import (
	"sync/atomic"
	"time"
)

// Stats counts what a Store has done since Open. Store.Stats returns it.
type Stats struct {
	// Swaps are the durations of calls of Swap that were sent, in seconds. A call can have several
	// swaps.
	Swaps Histogram
	// Exchanges are the durations of the Guard's exchanges by Run, in seconds, and ExchangeRows the
	// numbers of rows that they have swapped.
	Exchanges, ExchangeRows Histogram
	// Repeated are swaps that were sent again, because the reply was lost or the server couldn't
	// answer yet.
	Repeated int64
	// Failed are swaps with an Err: the server has refused them or not answered, or was away.
	Failed int64
}

// Histogram counts values.
type Histogram struct {
	// Bounds are the upper bounds of the buckets, in ascending order.
	Bounds []float64
	// Counts has the number of values in each bucket: those up to its bound and above the bound
	// before. The last one has no bound.
	Counts []int64
	// Sum is the sum of all values.
	Sum float64
}

// stats are the counters of a Store.
type stats struct {
	swaps, exchanges histogram // in nanoseconds
	exchangeRows     histogram
	repeated, failed atomic.Int64
}

// maxBounds is the maximum number of a histogram's bounds.
const maxBounds = 15

// histogram counts values without a lock.
type histogram struct {
	bounds []int64 // at most maxBounds
	counts [maxBounds + 1]atomic.Int64
	sum    atomic.Int64
}

// add counts a value.
func (h *histogram) add(value int64) {
	i := 0
	for i < len(h.bounds) && value > h.bounds[i] {
		i++
	}
	h.counts[i].Add(1)
	h.sum.Add(value)
}

// read returns the counts. unit is what a value of 1 is there.
func (h *histogram) read(unit int64) Histogram {
	all := Histogram{Sum: float64(h.sum.Load()) / float64(unit)}
	for _, bound := range h.bounds {
		all.Bounds = append(all.Bounds, float64(bound)/float64(unit))
	}
	for i := range len(h.bounds) + 1 {
		all.Counts = append(all.Counts, h.counts[i].Load())
	}
	return all
}

var (
	durationBounds = []int64{
		int64(100 * time.Microsecond), int64(250 * time.Microsecond), int64(500 * time.Microsecond),
		int64(time.Millisecond), int64(2500 * time.Microsecond), int64(5 * time.Millisecond),
		int64(10 * time.Millisecond), int64(25 * time.Millisecond), int64(50 * time.Millisecond),
		int64(100 * time.Millisecond), int64(250 * time.Millisecond), int64(500 * time.Millisecond),
		int64(time.Second), int64(2500 * time.Millisecond), int64(5 * time.Second),
	}
	rowBounds = []int64{0, 1, 10, 100, 1000, 10_000, 100_000}
)

func (s *stats) start() {
	s.swaps.bounds, s.exchanges.bounds, s.exchangeRows.bounds = durationBounds, durationBounds, rowBounds
}

// Stats returns what the Store has done since Open.
func (s *Store) Stats() Stats {
	c := &s.stats
	return Stats{
		Swaps: c.swaps.read(int64(time.Second)), Exchanges: c.exchanges.read(int64(time.Second)), ExchangeRows: c.exchangeRows.read(1),
		Repeated: c.repeated.Load(), Failed: c.failed.Load(),
	}
}

// exchangeKey is the key of a context's value: how many rows an exchange has swapped, an
// *atomic.Int64.
type exchangeKey struct{}
