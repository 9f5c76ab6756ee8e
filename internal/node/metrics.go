package node

import (
	"io"

	"github.com/VictoriaMetrics/metrics"

	"github.com/chatguard/chatguard/internal/histogram"
	"github.com/chatguard/chatguard/shared"
)

// registerMetrics registers the metrics of the shared store.
func (n *Node) registerMetrics(set *metrics.Set) {
	health := func(value func(shared.Health) float64) func() float64 {
		return func() float64 { return value(n.store.Health()) }
	}
	whether := func(is func(shared.Health) bool) func() float64 {
		return health(func(h shared.Health) float64 {
			if is(h) {
				return 1
			}
			return 0
		})
	}
	sharing := func(value func(shared.Counts) int64) func() float64 {
		return func() float64 { return float64(value(n.guard.Shared().Counts())) }
	}
	for name, value := range map[string]func() float64{
		"chatguard_shared_up":                             whether(func(h shared.Health) bool { return h.Up }),
		"chatguard_shared_refusing":                       whether(func(h shared.Health) bool { return h.Refusing }),
		"chatguard_shared_nodes":                          health(func(h shared.Health) float64 { return float64(h.Nodes) }),
		"chatguard_shared_round_trip_seconds":             health(func(h shared.Health) float64 { return h.RoundTrip.Seconds() }),
		"chatguard_shared_clock_offset_seconds":           health(func(h shared.Health) float64 { return h.Offset.Seconds() }),
		"chatguard_shared_clock_error_seconds":            health(func(h shared.Health) float64 { return h.Skew.Seconds() / 2 }),
		"chatguard_shared_clock_jump_seconds":             health(func(h shared.Health) float64 { return h.Jump.Seconds() }),
		`chatguard_shared_swaps_total{result="done"}`:     sharing(func(s shared.Counts) int64 { return s.Swaps }),
		`chatguard_shared_swaps_total{result="conflict"}`: sharing(func(s shared.Counts) int64 { return s.Conflicts }),
		`chatguard_shared_swaps_total{result="again"}`:    func() float64 { return float64(n.store.Stats().Repeated) },
		`chatguard_shared_swaps_total{result="error"}`:    func() float64 { return float64(n.store.Stats().Failed) },
		"chatguard_shared_from_memory_messages_total":     sharing(func(s shared.Counts) int64 { return s.FromMemory }),
		"chatguard_shared_offline_messages_total":         sharing(func(s shared.Counts) int64 { return s.Offline }),
		"chatguard_shared_unreadable_messages_total":      sharing(func(s shared.Counts) int64 { return s.Unreadable }),
		"chatguard_shared_healed_rows_total":              sharing(func(s shared.Counts) int64 { return s.Healed }),
		"chatguard_shared_overdrawn_messages_total":       sharing(func(s shared.Counts) int64 { return s.Overdrawn }),
		"chatguard_shared_exchanged_rows_total":           sharing(func(s shared.Counts) int64 { return s.Exchanged }),
		"chatguard_shared_assumed_swaps_total":            sharing(func(s shared.Counts) int64 { return s.Assumed }),
		"chatguard_shared_lost_rows_total":                sharing(func(s shared.Counts) int64 { return s.Lost }),
		"chatguard_shared_pending_rows":                   sharing(func(s shared.Counts) int64 { return int64(s.Pending) }),
		"chatguard_shared_rows":                           sharing(func(s shared.Counts) int64 { return int64(s.Rows) }),
	} {
		set.NewGauge(name, value)
	}
	set.RegisterMetricsWriter(func(w io.Writer) {
		stats := n.store.Stats()
		histogram.Counts(stats.Swaps).Write(w, "chatguard_shared_swap_duration_seconds")
		histogram.Counts(stats.Exchanges).Write(w, "chatguard_shared_exchange_duration_seconds")
		histogram.Counts(stats.ExchangeRows).Write(w, "chatguard_shared_exchange_rows")
	})
}
