package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"golang.org/x/sync/errgroup"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/web"
)

// owner is who the printed sign-in link signs in.
const owner = "owner"

// app is the whole bot, wired: Twitch → bot → Guard → store and dashboard.
type app struct {
	config    config.Config
	log       *slog.Logger
	metrics   *metrics.Set
	store     *persist.Store
	guard     *chatguard.Guard
	twitch    *twitchConnection
	bot       *chat.Bot
	web       *web.Server
	listener  net.Listener
	logins    logins
	revisions map[string]journal.Revision // in force at the start, by channel ID; not changed after that
}

// newApp opens the database, takes back what it holds, and listens. Close the app when done.
func newApp(ctx context.Context, cfg config.Config, log *slog.Logger) (*app, error) {
	a := &app{config: cfg, log: log, metrics: metrics.NewSet()}
	if err := a.open(ctx); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

func (a *app) open(ctx context.Context) (err error) {
	s := site(a.config.Web)
	if a.listener, err = s.Open(); err != nil {
		return err
	}
	_, strangers := unlisted(a.config)
	for _, name := range strangers {
		a.log.Warn("a table for a channel that isn't in twitch.channels, and so isn't moderated", "table", "[channel."+name+"]", "file", a.config.Path)
	}
	a.twitch = newTwitchConnection(a.config.Twitch, a.log, a.enter)
	if err = a.openStore(ctx); err != nil {
		return err
	}
	a.bot = chat.New(chat.Options{
		Guard: a.guard, Source: a.twitch, Moderator: a.twitch.moderator(), Logger: a.log,
		Report: func(o journal.Outcome) {
			a.store.Report(o)
			a.web.Report(o)
		},
	})
	a.web, err = web.New(web.Options{
		Site: s, Guard: a.guard, Store: a.store, WrongCode: persist.ErrCode, Metrics: a.metrics, Log: a.log,
		Acceptable:  a.acceptable,
		BasePolicy:  a.basePolicy,
		Channels:    a.twitch.channels,
		Connections: a.twitch.connections,
		Database:    a.database,
	})
	if err != nil {
		return err
	}
	waiting, err := a.store.Throttled(ctx, time.Now())
	if err != nil {
		return withoutDatabase(err)
	}
	a.web.Preload(waiting)
	return nil
}

// withoutDatabase says what to do about a database that a start can't read.
func withoutDatabase(err error) error {
	return fmt.Errorf("%w; `chatguard run --no-database` moderates without it", err)
}

// openStore opens the database and makes the Guard go on where the last process ended.
func (a *app) openStore(ctx context.Context) (err error) {
	opts := &persist.Options{Logger: a.log, FlushInterval: a.config.FlushInterval, Retention: time.Duration(a.config.Retention), Metrics: a.metrics}
	if a.config.Database == "" {
		a.log.Warn("started without a database: what happens is forgotten at the end")
		a.store, err = persist.OpenMemory(ctx, opts)
	} else {
		a.store, err = persist.Open(ctx, a.config.Database, opts)
	}
	switch {
	case errors.As(err, new(*persist.OwnedError)):
		return err
	case err != nil:
		return withoutDatabase(err)
	}
	a.guard, err = chatguard.New(a.config.Policy, &chatguard.Options{
		Observer: func(m chatguard.Message, v chatguard.Verdict) {
			a.store.Observe(m, v)
			a.web.Observe(m, v)
		},
	})
	if err != nil {
		return err
	}
	if err := a.putPoliciesInForce(ctx); err != nil {
		return err
	}
	began := time.Now()
	stats, err := a.store.Restore(ctx, a.guard)
	if err != nil {
		return withoutDatabase(err)
	}
	a.log.Info("went on where the last process ended", "rows", stats.Rows, "interrupted", stats.Interrupted, "took", time.Since(began).Round(time.Millisecond))
	return nil
}

// putPoliciesInForce makes the policies hold that channels have of their own, in the configuration or because they were changed live.
func (a *app) putPoliciesInForce(ctx context.Context) error {
	revisions, err := a.store.CurrentRevisions(ctx)
	if err != nil {
		return withoutDatabase(err)
	}
	if err := a.meet(ctx); err != nil {
		return withoutDatabase(err)
	}
	ids, _ := unlisted(a.config)
	ids = append(ids, a.logins.ids()...)
	a.revisions = map[string]journal.Revision{}
	for _, r := range revisions {
		if len(r.Changes) > 0 {
			a.revisions[r.ChannelID] = r
			ids = append(ids, r.ChannelID)
		}
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		if err := a.putInForce(id); err != nil {
			return err
		}
	}
	return nil
}

// putInForce makes a channel's policy hold: the configuration's, with what was changed live over it, which is named.
func (a *app) putInForce(id string) error {
	base, r := a.basePolicy(id), a.revisions[id]
	policy, left := journal.Apply(base, r.Changes)
	if err := a.acceptable(policy); err != nil {
		a.log.Error("the policy in force can't be done; only observing", "channel", id, "problem", err)
		policy.Mode = chatguard.Observe
	}
	log := a.log.With("channel", id, "revision", r.Number, "author", r.Author)
	if err := a.guard.SetPolicy(id, policy, time.Now()); err != nil {
		log.Error("what was changed live no longer fits the configuration, which holds instead", "problem", err)
		return a.guard.SetPolicy(id, base, time.Now())
	}
	for _, c := range left {
		log.Warn("changed live, which no longer fits the configuration", "key", c.Key, "value", c.To)
	}
	if len(r.Changes) == 0 {
		return nil
	}
	for _, c := range journal.Diff(base, policy) {
		log.Info("changed live, and so not as configured", "key", c.Key, "value", c.To, "configured", c.From)
	}
	return nil
}

// acceptable refuses a policy that asks for what this bot can't do.
func (a *app) acceptable(p chatguard.Policy) error {
	if key, problem := unfit(p, a.config.Twitch.Token != ""); problem != "" {
		return fmt.Errorf("%s %s", key, problem)
	}
	return nil
}

// run moderates and serves until the context ends, then writes everything down.
func (a *app) run(ctx context.Context) error {
	writing, stopWriting := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWriting()
	written := make(chan error, 1)
	go func() { written <- a.store.Run(writing, a.guard) }()

	defer context.AfterFunc(ctx, func() { a.log.Info("stopping: finishing what waits; another Ctrl-C ends at once") })()
	listener := a.listener
	a.listener = nil // the server closes it
	serving, ctx := errgroup.WithContext(ctx)
	serving.Go(func() error { return a.bot.Run(ctx) })
	serving.Go(func() error { return a.web.Run(ctx, listener) })
	err := serving.Wait()
	a.twitch.sumUp()
	stopWriting() // nobody judges or reports any more
	return errors.Join(err, <-written)
}

func (a *app) close() {
	if a.listener != nil {
		a.listener.Close()
	}
	if a.store != nil {
		if err := a.store.Close(); err != nil {
			a.log.Error("the database could not be closed", "error", err)
		}
	}
}

// printLink makes a sign-in link and prints it.
func (a *app) printLink(ctx context.Context, out io.Writer) error {
	code, err := a.store.NewSignInCode(ctx, owner, 0)
	if err != nil {
		return err
	}
	link := site(a.config.Web).Link(a.listener.Addr().String(), code)
	_, err = fmt.Fprintf(out, "Dashboard: %s\n(the link signs in once, within %.0f minutes)\n", link, persist.SignInTime.Minutes())
	return err
}

// database is the state of the store as the dashboard shows it.
func (a *app) database() web.Database {
	if a.config.Database == "" {
		return web.Database{State: web.DatabaseOff}
	}
	h := a.store.Health()
	d := web.Database{
		State: web.DatabaseOK, Detail: h.Problem, Since: h.Since, LastFlush: h.LastFlush, Lag: h.Lag,
		Queued: h.Waiting, Dropped: h.Dropped.Timeline + h.Dropped.Journal,
	}
	if h.State == persist.Failing {
		d.State = web.DatabaseFailing
	}
	return d
}

// site is where the configuration says that the dashboard is.
func site(w config.Web) web.Site {
	s := web.Site{Listen: w.Listen, TLSCert: w.TLSCert, TLSKey: w.TLSKey, Token: string(w.Token)}
	if w.PublicURL != "" {
		s.PublicURL, _ = url.Parse(w.PublicURL) // the configuration has parsed it
	}
	for _, p := range w.TrustedProxies {
		s.TrustedProxies = append(s.TrustedProxies, p.Prefix)
	}
	return s
}
