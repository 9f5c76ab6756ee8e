// Package metrics counts a Guard's verdicts for OpenTelemetry.
package metrics

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/chatguard/chatguard"
)

// Register creates these instruments. It needs a meter of your MeterProvider, for example
// otel.Meter("chat").
//
//	chatguard.messages {outcome, limit}  messages: "allowed", "observed", "exempt" or "throttled"
//	chatguard.cost                       what the allowed messages have spent
//	chatguard.users                      users that the Guard remembers
//	chatguard.evicted_users              users removed because no memory was left
//
// The attributes have few values. Users and channels are no attributes, because each value is a
// time series.
func Register(guard *chatguard.Guard, meter metric.Meter) error {
	messages, err := meter.Int64Counter("chatguard.messages", metric.WithUnit("{message}"))
	if err != nil {
		return err
	}
	cost, err := meter.Int64Counter("chatguard.cost", metric.WithUnit("{message}"))
	if err != nil {
		return err
	}
	users, err := meter.Int64ObservableGauge("chatguard.users", metric.WithUnit("{user}"))
	if err != nil {
		return err
	}
	evicted, err := meter.Int64ObservableCounter("chatguard.evicted_users", metric.WithUnit("{user}"))
	if err != nil {
		return err
	}
	if _, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		memory := guard.Memory()
		o.ObserveInt64(users, int64(memory.Users))
		o.ObserveInt64(evicted, memory.Evicted)
		return nil
	}, users, evicted); err != nil {
		return err
	}
	guard.AddObserver(func(_ chatguard.Message, v chatguard.Verdict) {
		messages.Add(context.Background(), 1, metric.WithAttributes(attribute.String("outcome", outcome(v)), attribute.String("limit", v.Limit)))
		cost.Add(context.Background(), int64(v.Spent))
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
