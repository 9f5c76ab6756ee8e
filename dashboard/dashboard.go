// Package dashboard shows moderators what a Guard inside a chat server does, and lets them change it: who is throttled now and why, the limits with
// a preview of other ones, single users, the journal and the audit. It is an [http.Handler] to mount under any path of the server, which says who
// may come in:
//
//	board, err := dashboard.New(guard, dashboard.Options{Authorize: moderator, Store: store})
//	mux.Handle("/moderate/", http.StripPrefix("/moderate", board))
//	go board.Run(ctx) // beside the server, until that ends
//
// A channel whose limits people have changed has a policy of its own from then on, also after they went back to what the program says: until the next
// start, the Guard's SetPolicy for all channels changes it no more, and SetPolicy for this one does.
//
// It has no users, passwords or sessions of its own, and loads nothing from elsewhere.
package dashboard

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/embedded"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/web"
)

// Dashboard is the dashboard of one Guard, which one is enough for: it can be mounted several times. It is safe for concurrent use; make one with New.
type Dashboard struct {
	options Options
	store   *embedded.Store
	web     *web.Server
	ran     atomic.Bool

	complained sync.Map // by Role: what Authorize says is in the log
}

// New returns a Dashboard for a Guard, which it observes from now on. It answers requests once Run runs. The Guard may have judged messages before: who
// was throttled by them is shown where a Store knows of it. The error names what is wrong with the Options, or is the Store's.
//
// Call Run also where the server gives up before it has begun, with a context that is over: without a Store it is what frees the memory.
func New(guard *chatguard.Guard, opts Options) (*Dashboard, error) {
	if guard == nil {
		return nil, errors.New("dashboard: the Guard is missing")
	}
	public, err := opts.check()
	if err != nil {
		return nil, err
	}
	if opts.Logger == nil {
		opts.Logger = slog.Default()
	}
	d := &Dashboard{options: opts}
	if d.store, err = openStore(guard, opts); err != nil {
		return nil, err
	}
	if err := d.open(guard, web.Site{PublicURL: public}); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// What is kept without a Store.
const (
	memoryRetention = 24 * time.Hour // how long throttled messages are
	memoryQueue     = 20_000         // records that wait for the next write
	maxMemory       = 128 << 20      // bytes, before the oldest go
)

// openStore returns the store of the Options, or one in memory.
func openStore(guard *chatguard.Guard, opts Options) (*embedded.Store, error) {
	if opts.Store != nil {
		if store := opts.Store.Inner(); store.Guards(guard) {
			return store, nil
		}
		return nil, errors.New("dashboard: Options.Store isn't restored with this Guard: call its Restore first")
	}
	ctx := context.Background()
	store, err := embedded.OpenMemory(ctx, persist.Options{
		Logger: opts.Logger, Retention: memoryRetention, QueueSize: memoryQueue, MaxMemory: maxMemory,
	})
	if err != nil {
		return nil, err
	}
	if _, err := store.Restore(ctx, guard); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

func (d *Dashboard) open(guard *chatguard.Guard, site web.Site) error {
	waiting, err := d.store.Throttled(context.Background(), guard.Now())
	if err != nil {
		return fmt.Errorf("dashboard: who is throttled can't be read from Options.Store, which has to be open until Run has returned: %w", err)
	}
	set := metrics.NewSet()
	set.RegisterMetricsWriter(d.store.Metrics.WritePrometheus)
	d.web, err = web.New(web.Options{
		Site: site, Guard: guard, Store: d.store, WrongCode: persist.ErrCode, Metrics: set, Log: d.options.Logger,
		Authorize:    d.holder,
		BasePolicy:   d.store.BasePolicy,
		Channels:     d.channels,
		Database:     d.database,
		Controls:     d.store.Controls,
		ExportPolicy: config.WritePolicy,
	})
	if err != nil {
		return err
	}
	d.store.Follow(d.web)
	guard.AddObserver(embedded.Observer(d.web))
	d.web.Preload(waiting)
	return nil
}

// ServeHTTP answers a request below the path that the Dashboard is mounted at, which has to be stripped but for its last slash: use http.StripPrefix as
// above. The page itself, /healthz and /api/v1/openapi.json are told to everybody, anything else to those whom Authorize lets in: /readyz and /metrics,
// too.
func (d *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.web.Handler().ServeHTTP(w, r)
}

// Run keeps what is shown up to date until ctx ends; open pages are then disconnected, which an http.Server's Shutdown doesn't do. Call it once.
// Requests that come before it or after its end are refused. It returns nil when ctx ended it, once Authorize has answered whoever asked it for an open
// page.
func (d *Dashboard) Run(ctx context.Context) error {
	if d.ran.Swap(true) {
		return errors.New("dashboard: Run was called already: make another Dashboard")
	}
	if !d.store.IsMemory() {
		d.web.Keep(ctx)
		return nil
	}
	writing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	written := make(chan error, 1)
	go func() { written <- d.store.Run(writing) }()
	d.web.Keep(ctx)
	stop()
	return errors.Join(<-written, d.close())
}

// close closes what New has opened.
func (d *Dashboard) close() error {
	if d.store.IsMemory() {
		return d.store.Close()
	}
	return nil
}
