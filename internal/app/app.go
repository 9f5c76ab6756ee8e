// Package app runs chatguard. It connects the Guard and its store with Twitch, the chat loop and
// the dashboard, according to a configuration that can be reloaded while chatguard runs.
//
// The package uses all other parts and doesn't handle the command line.
package app

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"golang.org/x/sync/errgroup"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitchbot"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/host"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/node"
	"github.com/chatguard/chatguard/internal/reports"
	"github.com/chatguard/chatguard/internal/web"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/webhook"
)

// App is the complete bot. Messages flow from Twitch through the bot, or from servers through the
// dashboard, to the Guard, and from there to the store and the dashboard. Create one with Open. Its
// fields are read-only.
type App struct {
	Config config.Config // the configuration at the start
	Host   *host.Host
	Guard  *chatguard.Guard
	Twitch *twitchbot.Connection
	Bot    *chat.Bot
	Web    *web.Server
	// Webhooks sends events to other programs.
	Webhooks *webhook.Sender

	node     *node.Node // this process among the nodes that share limits
	reporter *reports.Reporter
	// interruptedBans are the bans that were pending when the last process ended.
	interruptedBans []journal.Entry

	login *botLogin // nil without an account on Twitch
	// signIns is nil if nobody can sign in with Twitch.
	signIns *signIns

	options   Options // with the real Pages
	began     time.Time
	log       *slog.Logger
	metrics   *metrics.Set
	directory *directory
	site      access.Site
	listener  net.Listener
	address   string // the listener's
	// certificate is the listener's; nil without TLS.
	certificate *access.KeyPair
}

// Options configure an App. Config and Log are required.
type Options struct {
	Config config.Config
	Log    *slog.Logger

	// Build describes this binary for the metrics, and its version for other nodes.
	Build Build

	Level *slog.LevelVar // of Log; a reload sets it. nil means that the level is fixed

	Pages    Pages            // of Twitch; empty fields mean the real ones
	Dial     twitchbot.Dialer // connects to Twitch; nil means the machine's network
	Listener net.Listener     // the dashboard's; nil listens at the configured address

	// Started is called when Run has started all parts. Reloading is called when a reload begins,
	// and the function that it returns when the reload is over. Nil means that nobody needs to
	// know.
	Started   func()
	Reloading func() (done func())
}

// Open opens the database, restores its content, and listens. Close the App when done.
func Open(ctx context.Context, o Options) (*App, error) {
	a := newApp(o)
	a.metrics.NewGauge(o.Build.metric(), func() float64 { return 1 })
	if err := a.open(ctx); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

func newApp(o Options) *App {
	o.Pages = o.Pages.Real()
	return &App{Config: o.Config, options: o, began: time.Now(), log: o.Log, metrics: metrics.NewSet(), listener: o.Listener}
}

// open creates the parts in order, because each needs earlier ones.
func (a *App) open(ctx context.Context) error {
	for _, part := range []func(context.Context) error{
		a.listen, a.openHost, a.openNode, a.openGuard, a.restore, a.openWebhooks, a.openSignIns, a.openBot, a.openWeb,
	} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// listen binds the dashboard's address, before anything is written.
func (a *App) listen(context.Context) (err error) {
	a.site = Site(a.Config.Web)
	a.site.Log = a.log
	if a.listener == nil {
		if a.listener, err = a.site.Open(); err != nil {
			return err
		}
	}
	a.address = a.listener.Addr().String()
	if a.certificate = access.CertificateOf(a.listener); a.certificate != nil {
		a.metrics.NewGauge("chatguard_tls_expiry_timestamp_seconds", func() float64 { return float64(a.certificate.Expires().Unix()) })
	}
	warn(a.Config, a.log)
	return nil
}

// Run moderates and serves until the context ends, then writes everything to the database.
func (a *App) Run(ctx context.Context) error {
	writing, stopWriting := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWriting()
	written := make(chan error, 1)
	go func() { written <- a.Host.Run(writing) }()
	shared := make(chan error, 1)
	go func() { shared <- a.node.Run(writing) }()

	told := make(chan struct{})
	stopTelling := context.AfterFunc(ctx, func() {
		defer close(told)
		a.log.Info("stopping: finishing pending work; a second signal stops at once")
	})
	defer func() {
		if !stopTelling() {
			<-told // nothing may be logged after the end
		}
	}()
	listener := a.listener
	a.listener = nil // the server closes it
	ctx, end := context.WithCancel(ctx)
	defer end()
	serving, ctx := errgroup.WithContext(ctx)
	serving.Go(func() error {
		if a.node.Standby != nil {
			defer a.node.Standby.Close()
		}
		return a.Bot.Run(ctx)
	})
	if a.login != nil {
		serving.Go(func() error { return a.login.run(ctx) })
	}
	serving.Go(func() error { a.endIfLost(ctx, end); return nil })
	serving.Go(func() error { return a.signIns.run(ctx) })
	serving.Go(func() error { return a.Web.Run(ctx, listener) })
	serving.Go(func() error { return a.Webhooks.Run(ctx) })
	serving.Go(func() error { return a.reporter.Run(ctx) })
	serving.Go(func() error { return a.answerQuestions(ctx) })
	if a.options.Started != nil {
		a.options.Started()
	}
	err := serving.Wait()
	a.reporter.ReportBans(writing) // the next process sends them
	if a.Twitch.Tokens() != nil {
		a.Twitch.LogTotals()
	}
	stopWriting() // nothing is judged or reported after this
	return errors.Join(err, <-written, <-shared)
}

// endIfLost calls end if another process takes the database. Otherwise both processes would act on
// each message. The store's error says why.
func (a *App) endIfLost(ctx context.Context, end func()) {
	select {
	case <-a.Host.Store.Lost():
		end()
	case <-ctx.Done():
	}
}

// Stuck returns what the App has been doing for longer than limit without waiting for disk or
// network. It returns "" if there is no such work.
func (a *App) Stuck(limit time.Duration) string {
	now := time.Now()
	return cmp.Or(a.Bot.Stuck(now, limit), a.Host.Store.Stuck(now, limit))
}

// Close closes the database and everything else that is open.
func (a *App) Close() {
	if a.listener != nil {
		a.listener.Close()
	}
	if a.Twitch != nil {
		a.Twitch.Close()
	}
	if a.node != nil {
		if err := a.node.Close(); err != nil {
			a.log.Error("the shared store could not be closed", "error", err)
		}
	}
	if a.Host != nil {
		if err := a.Host.Close(); err != nil {
			a.log.Error("the database could not be closed", "error", err)
		}
	}
}
