package app

import (
	"context"
	"time"

	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/webhook"
)

// openWebhooks creates the sender of events, and lets the reporter notice changes.
func (a *App) openWebhooks(ctx context.Context) error {
	a.Webhooks = webhook.New(webhook.Options{Store: a.Host.Store, Retention: time.Duration(a.Config.Retention), Log: a.log})
	if err := a.Webhooks.Restore(ctx); err != nil {
		return addDatabaseFix(err)
	}
	a.Webhooks.SetConfigured(hooksOf(a.Config))
	a.metrics.NewGauge("chatguard_webhook_waiting_deliveries", func() float64 { waiting, _ := a.Webhooks.Totals(); return float64(waiting) })
	a.metrics.NewGauge("chatguard_webhook_dead_letters", func() float64 { _, dead := a.Webhooks.Totals(); return float64(dead) })
	a.reporter = newReporter(a)
	a.reporter.noteInterrupted(a.interruptedBans)
	streams, err := a.Host.Store.Streams(ctx, "", maxStreams)
	if err != nil {
		return addDatabaseFix(err)
	}
	a.reporter.restoreStreams(streams, a.Host.Settings)
	return nil
}

// hooksOf returns the webhooks of a configuration.
func hooksOf(c config.Config) (hooks []webhook.Hook) {
	for _, w := range c.Webhooks {
		hooks = append(hooks, w.Hook())
	}
	return hooks
}
