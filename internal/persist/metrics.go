package persist

import (
	"fmt"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// figures are the store's metrics.
type figures struct {
	state, journal, timeline, revisions, audits *metrics.Counter // rows written

	flushes *metrics.Counter
	seconds *metrics.FloatCounter // time taken by the flushes
	errors  *metrics.Counter
}

func (s *Store) register(set *metrics.Set) {
	written := func(table string) *metrics.Counter {
		return set.NewCounter(fmt.Sprintf("chatguard_database_rows_written_total{table=%q}", table))
	}
	s.figures = figures{
		state: written("state"), journal: written("journal"), timeline: written("timeline"), revisions: written("revision"), audits: written("audit"),
		// together with the sum, this is a Prometheus summary without quantiles
		flushes: set.NewCounter("chatguard_database_flush_duration_seconds_count"),
		seconds: set.NewFloatCounter("chatguard_database_flush_duration_seconds_sum"),
		errors:  set.NewCounter("chatguard_database_errors_total"),
	}
	for name, value := range map[string]func(Health) float64{
		"chatguard_database_lag_seconds":                             func(h Health) float64 { return h.Lag.Seconds() },
		"chatguard_database_waiting_records":                         func(h Health) float64 { return float64(h.Waiting) },
		`chatguard_database_records_dropped_total{table="timeline"}`: func(h Health) float64 { return float64(h.Dropped.Timeline) },
		`chatguard_database_records_dropped_total{table="journal"}`:  func(h Health) float64 { return float64(h.Dropped.Journal) },
	} {
		set.NewGauge(name, func() float64 { return value(s.Health()) })
	}
	set.NewGauge("chatguard_database_size_bytes", func() float64 { return float64(s.Size()) })
}

// recordFlush counts the rows that a flush wrote, and its duration.
func (f *figures) recordFlush(parts []part, took time.Duration) {
	for _, p := range parts {
		if p.counter != nil {
			p.counter.Add(p.rows)
		}
	}
	f.flushes.Inc()
	f.seconds.Add(took.Seconds())
}
