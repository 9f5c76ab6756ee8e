package app

import (
	"cmp"
	"context"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitchbot"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/reports"
	"github.com/chatguard/chatguard/internal/web"
	"github.com/chatguard/chatguard/internal/webhook"
)

// openWebhooks creates the sender of events and the reporter, which notices changes from now on.
func (a *App) openWebhooks(ctx context.Context) error {
	a.Webhooks = webhook.New(webhook.Options{Store: a.Host.Store, Retention: time.Duration(a.Config.Retention), Log: a.log})
	if err := a.Webhooks.Restore(ctx); err != nil {
		return addDatabaseFix(err)
	}
	a.Webhooks.SetConfigured(hooksOf(a.Config))
	a.metrics.NewGauge("chatguard_webhook_waiting_deliveries", func() float64 { waiting, _ := a.Webhooks.Totals(); return float64(waiting) })
	a.metrics.NewGauge("chatguard_webhook_dead_letters", func() float64 { _, dead := a.Webhooks.Totals(); return float64(dead) })
	a.reporter = reports.New(a.reportOptions())
	a.Host.Policies.Followers.Watch(a.reporter.NoteChange)
	a.reporter.NoteInterrupted(a.interruptedBans)
	streams, err := a.Host.Store.Streams(ctx, "", maxStreams)
	if err != nil {
		return addDatabaseFix(err)
	}
	a.reporter.RestoreStreams(streams, a.Host.Settings)
	return nil
}

// reportOptions returns the options of the reporter.
func (a *App) reportOptions() reports.Options {
	o := reports.Options{
		Webhooks: a.Webhooks, Guard: a.Guard, Store: a.Host.Store, Node: a.node.Name, Name: a.directory.name,
		Channels: func() []string { return append(listedRooms(*a.directory.config()), a.directory.ids()...) },
		Troubles: func() []reports.Trouble { return troubles(a.Web) },
		Summary: func(ctx context.Context, s journal.Stream) (webhook.StreamSummary, error) {
			return a.Web.StreamSummary(ctx, s)
		},
		StreamOver: twitchbot.StreamGap + 2*twitchbot.AskEvery, Log: a.log,
	}
	if a.node.Standby != nil {
		o.Leads = a.node.Leads
	}
	return o
}

// troubles returns what fails now, as the dashboard shows it.
func troubles(web *web.Server) (list []reports.Trouble) {
	for _, c := range web.Connections() {
		if c.State.IsTrouble() || c.State.IsDegraded() {
			list = append(list, reports.Trouble{Name: c.Name, State: string(c.State), Detail: c.Detail})
		}
	}
	if db := web.Database(); db.State == journal.DatabaseFailing {
		list = append(list, reports.Trouble{Name: "database", State: string(db.State), Detail: db.Detail})
	}
	if shared := web.Shared(); shared.IsAway() || shared.IsRefusing() {
		state := "away"
		if shared.IsRefusing() {
			state = "refuses changes"
		}
		list = append(list, reports.Trouble{Name: "shared store", State: state, Detail: cmp.Or(shared.Problem, "this node decides by itself")})
	}
	return list
}

// report passes on what was done about a throttled message.
func (a *App) report(o journal.Outcome) {
	a.Host.Report(o)
	a.reporter.NoteOutcome(o)
}

// noteStream records the state of a stream.
func (a *App) noteStream(s journal.Stream) {
	a.Host.Store.NoteStream(s)
	a.reporter.NoteStream(s)
}

// hooksOf returns the webhooks of a configuration.
func hooksOf(c config.Config) (hooks []webhook.Hook) {
	for _, w := range c.Webhooks {
		hooks = append(hooks, w.Hook())
	}
	return hooks
}
