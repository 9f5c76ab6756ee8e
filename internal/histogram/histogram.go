// Package histogram counts values in buckets, for Prometheus. It knows nothing about what the
// values are.
package histogram

import (
	"fmt"
	"io"
	"strconv"
	"sync/atomic"
	"time"
)

// Histogram counts values without a lock. Create one with New. It is safe for concurrent use.
type Histogram struct {
	bounds []int64
	unit   int64
	counts []atomic.Int64
	sum    atomic.Int64
}

// New returns an empty Histogram. bounds are the upper bounds of its buckets, in ascending order.
// unit is the value that is 1 in the Bounds and the Sum of its Counts.
func New(unit int64, bounds ...int64) *Histogram {
	return &Histogram{bounds: bounds, unit: unit, counts: make([]atomic.Int64, len(bounds)+1)}
}

// OfDurations returns an empty Histogram of durations. The Bounds and the Sum of its Counts are in
// seconds.
func OfDurations(bounds ...time.Duration) *Histogram {
	all := make([]int64, len(bounds))
	for i, bound := range bounds {
		all[i] = int64(bound)
	}
	return New(int64(time.Second), all...)
}

// Add counts a value n times.
func (h *Histogram) Add(value, n int64) {
	i := 0
	for i < len(h.bounds) && value > h.bounds[i] {
		i++
	}
	h.counts[i].Add(n)
	h.sum.Add(value * n)
}

// Counts is a copy of a Histogram.
type Counts struct {
	Bounds []float64 // upper bounds of the buckets, in ascending order
	// Counts has the number of values in each bucket: those up to its bound and above the bound
	// before. The last one has no bound.
	Counts []int64
	Sum    float64 // of all values
}

// Counts returns the counts so far.
func (h *Histogram) Counts() Counts {
	all := Counts{Sum: float64(h.sum.Load()) / float64(h.unit)}
	for _, bound := range h.bounds {
		all.Bounds = append(all.Bounds, float64(bound)/float64(h.unit))
	}
	for i := range h.counts {
		all.Counts = append(all.Counts, h.counts[i].Load())
	}
	return all
}

// Write writes the counts in Prometheus's exposition format.
func (c Counts) Write(w io.Writer, name string) {
	var count int64
	for i, n := range c.Counts {
		bound := "+Inf"
		if i < len(c.Bounds) {
			bound = strconv.FormatFloat(c.Bounds[i], 'f', -1, 64)
		}
		count += n
		fmt.Fprintf(w, "%s_bucket{le=%q} %d\n", name, bound, count)
	}
	fmt.Fprintf(w, "%s_sum %s\n%[1]s_count %[3]d\n", name, strconv.FormatFloat(c.Sum, 'f', -1, 64), count)
}
