// Package metrics counts a Guard's verdicts for Prometheus.
package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/chatguard/chatguard"
)

// Register adds these metrics to a registry. It returns an error if the registry already has them.
//
//	chatguard_messages_total{outcome, limit}  messages: "allowed", "observed", "exempt" or "throttled"
//	chatguard_cost_total                      what the allowed messages have spent
//	chatguard_users                           users that the Guard remembers
//	chatguard_evicted_users_total             users removed because no memory was left
//
// The labels have few values. Users and channels are no labels, because every value takes memory in
// Prometheus for as long as it runs.
func Register(guard *chatguard.Guard, registry prometheus.Registerer) error {
	messages := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "chatguard_messages_total", Help: "Messages by outcome, and by the limit that throttled them.",
	}, []string{"outcome", "limit"})
	cost := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "chatguard_cost_total", Help: "Cost that the allowed messages have spent.",
	})
	for _, c := range []prometheus.Collector{
		messages, cost,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "chatguard_users", Help: "Users that the Guard remembers.",
		}, func() float64 { return float64(guard.Memory().Users) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "chatguard_evicted_users_total", Help: "Users removed because no memory was left.",
		}, func() float64 { return float64(guard.Memory().Evicted) }),
	} {
		if err := registry.Register(c); err != nil {
			return err
		}
	}
	guard.AddObserver(func(_ chatguard.Message, v chatguard.Verdict) {
		messages.WithLabelValues(outcome(v), v.Limit).Inc()
		cost.Add(float64(v.Spent))
	})
	return nil
}

func outcome(v chatguard.Verdict) string {
	switch {
	case v.Observed:
		return "observed"
	case v.Exempt:
		return "exempt"
	case v.Allowed:
		return "allowed"
	}
	return "throttled"
}
