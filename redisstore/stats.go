package redisstore

import (
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard/internal/histogram"
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
	swaps, exchanges *histogram.Histogram // of durations
	exchangeRows     *histogram.Histogram
	failed           atomic.Int64
}

var durationBounds = []time.Duration{
	100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond,
	10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second,
}

func (s *stats) start() {
	s.swaps, s.exchanges = histogram.OfDurations(durationBounds...), histogram.OfDurations(durationBounds...)
	s.exchangeRows = histogram.New(1, 0, 1, 10, 100, 1000, 10_000, 100_000)
}

// Stats returns what the Store has done since Open.
func (s *Store) Stats() Stats {
	c := &s.stats
	return Stats{
		Swaps: Histogram(c.swaps.Counts()), Exchanges: Histogram(c.exchanges.Counts()), ExchangeRows: Histogram(c.exchangeRows.Counts()),
		Repeated: s.writer.repeated.Load(), Failed: c.failed.Load(),
	}
}

// exchangeKey is the key of a context's value: how many rows an exchange has swapped, an
// *atomic.Int64.
type exchangeKey struct{}
