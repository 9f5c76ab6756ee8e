// Package dashboard shows moderators what a Guard inside a chat server does, and lets them control
// it. It shows who is throttled now and why, the limits with a preview of changes, single users,
// the journal and the audit log. It is an [http.Handler] that can be mounted under any path; the
// server decides who has access:
//
//	board, err := dashboard.New(guard, &dashboard.Options{Authorize: moderator, Store: store})
//	mux.Handle("/moderate/", http.StripPrefix("/moderate", board))
//	go board.Run(background) // also runs the store, until the server has ended
//
// When people change the limits of a channel, the channel gets its own policy, even if they later
// return to the program's limits. From then until the next start, the program can change the
// channel's policy only with the Guard's SetChannelPolicy, and not with SetPolicy.
//
// The dashboard has no users, passwords or sessions of its own, and loads nothing from other sites.
// It sends nothing to webhooks.
package dashboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/host"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/persist/signin"
	"github.com/chatguard/chatguard/internal/web"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/check"
	"github.com/chatguard/chatguard/internal/web/live"
)

// Dashboard is the dashboard of one Guard. A Guard needs only one: it can be mounted several times.
// It is safe for concurrent use. Create one with New.
type Dashboard struct {
	options Options
	host    *host.Host
	web     *web.Server
	ran     atomic.Bool

	complained sync.Map // roles whose problem is already logged
}

// New returns a Dashboard for a Guard and starts observing the Guard. The Dashboard answers
// requests once Run has been called. If the Guard judged messages before New, the users who were
// throttled then are shown only if the Store has them. The error describes a mistake in the
// Options, or comes from the Store. Nil Options are a mistake, because Authorize is required.
//
// If the server fails before it starts, call Run nevertheless, with a context that has ended.
// Without a Store, only Run frees the memory.
func New(guard *chatguard.Guard, opts *Options) (*Dashboard, error) {
	if guard == nil {
		return nil, errors.New("dashboard: the Guard is missing: create one with chatguard.New")
	}
	o := *cmp.Or(opts, &Options{})
	public, err := o.check(guard)
	if err != nil {
		return nil, err
	}
	o.Logger = cmp.Or(o.Logger, slog.Default())
	d := &Dashboard{options: o}
	if d.host, err = openHost(guard, o); err != nil {
		return nil, err
	}
	if err := d.open(guard, public); err != nil {
		return nil, fmt.Errorf("dashboard: %w", errors.Join(err, d.close()))
	}
	return d, nil
}

// The limits of what is kept without a Store.
const (
	memoryRetention = 24 * time.Hour // how long to keep throttled messages
	memoryQueue     = 20_000         // records pending for the next write
	maxMemory       = 128 << 20      // bytes; if there is more, the oldest records are dropped
)

// openHost returns the host of the Options' Store, or one in memory.
func openHost(guard *chatguard.Guard, opts Options) (*host.Host, error) {
	if opts.Store != nil {
		return hostOf(opts.Store, guard)
	}
	ctx := context.Background()
	h, err := host.OpenMemory(ctx, persist.Options{
		Logger: opts.Logger, Retention: memoryRetention, TextRetention: persist.DefaultTextRetention, QueueSize: memoryQueue, MaxMemory: maxMemory,
	})
	if err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	if err = h.Join(guard, host.Options{}); err == nil {
		_, err = h.Restore(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("dashboard: %w", errors.Join(err, h.Close()))
	}
	return h, nil
}

// hostOf returns the host of a Store that was opened with the Guard.
func hostOf(store Store, guard *chatguard.Guard) (*host.Host, error) {
	if v := reflect.ValueOf(store); v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, fmt.Errorf("dashboard: Options.Store is a nil %T: leave Store out for a dashboard without a store", store)
	}
	switch h := host.Of(store); {
	case h == nil:
		return nil, errors.New("dashboard: Options.Store must be a *sqlitestore.Store from sqlitestore.Open, or embed one")
	case !h.Guards(guard):
		return nil, errors.New("dashboard: Options.Store was opened with another Guard: open it with this one")
	default:
		return h, nil
	}
}

func (d *Dashboard) open(guard *chatguard.Guard, public *url.URL) error {
	waiting, err := d.host.Store.Throttled(context.Background(), guard.Now().Add(-live.Recent), live.MaxRows)
	if err != nil {
		return fmt.Errorf("can't read the throttled users from Options.Store, which must stay open until Run has returned: %w", err)
	}
	set := metrics.NewSet()
	set.RegisterMetricsWriter(d.host.Metrics.WritePrometheus)
	options := web.Options{
		Live: live.Options{
			Guard: guard, Policies: d.host.Policies, Controls: d.host.Controls, Records: d.host.Store,
			Channels: d.channels, Database: d.host.Database, Repeats: d.host.Repeats.Of, Metrics: set, Log: d.options.Logger,
		},
		Access: access.Options{
			Site: access.Site{PublicURL: public}, Authorize: d.holder, Sessions: d.host.Store.Tokens, WrongCode: signin.ErrCode, Now: guard.Now, Log: d.options.Logger,
		},
		Check: check.Options{Guard: guard},
		Store: d.host.Store, ExportPolicy: config.WritePolicy,
	}
	if options.Nodes = d.options.Nodes; d.options.SharedHealth != nil {
		options.Live.Shared = func() live.Shared {
			return live.Shared{Mode: guard.Shared().Mode(), Health: d.options.SharedHealth()}
		}
	}
	if d.web, err = web.New(options); err != nil {
		return err
	}
	d.host.Follow(d.web)
	d.host.Policies.Followers.Watch(d.web.Made)
	d.web.Preload(waiting)
	return nil
}

// channels returns the channels to show.
func (d *Dashboard) channels() (list []live.Channel) {
	if d.options.Channels != nil {
		for _, c := range d.options.Channels() {
			list = append(list, live.Channel{ID: c.ID, Login: cmp.Or(c.Name, c.ID)})
		}
		return list
	}
	ids := slices.Sorted(slices.Values(slices.Concat(d.web.Heard(), d.host.Changed)))
	for _, id := range slices.Compact(ids) {
		list = append(list, live.Channel{ID: id, Login: id})
	}
	return list
}

// ServeHTTP answers a request below the path where the Dashboard is mounted. Strip that path,
// except for its final slash, with http.StripPrefix, as the package comment shows. The page itself,
// /healthz and /api/v1/openapi.json are open to everyone. For everything else, including /readyz
// and /metrics, Authorize decides who has access.
func (d *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.web.Handler().ServeHTTP(w, r)
}

// Run keeps the displayed data up to date and runs Options.Store until ctx ends. End ctx after the
// last message is judged. Run then disconnects open pages, which an http.Server's Shutdown doesn't
// do, and waits for calls of Authorize for open pages. Only then does it end the Store's Run, whose
// last write thus contains every change that was made in the Dashboard.
//
// If the Store's Run fails, Run ends at once and returns that error. Otherwise Run returns nil.
// Call Run once. The Dashboard refuses requests before Run starts and after it ends.
func (d *Dashboard) Run(ctx context.Context) error {
	if d.ran.Swap(true) {
		return errors.New("dashboard: Run was called before: create another Dashboard")
	}
	showing, hide := context.WithCancel(ctx)
	defer hide()
	writing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	run := d.host.Run
	if d.options.Store != nil {
		run = d.options.Store.Run
	}
	written := make(chan error, 1)
	go func() {
		err := run(writing)
		if err != nil {
			hide()
		}
		written <- err
	}()
	d.web.Keep(showing)
	stop()
	if err := errors.Join(<-written, d.close()); err != nil {
		return fmt.Errorf("dashboard: %w", err)
	}
	return nil
}

// close closes what New opened.
func (d *Dashboard) close() error {
	if d.host.IsMemory {
		return d.host.Close()
	}
	return nil
}
