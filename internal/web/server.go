// Package web serves the dashboard: its files, the JSON API under /api/v1, the live feed, sign-in,
// health and metrics.
//
// Some parts are separate packages. Package access decides who may use the dashboard. Package live
// contains the data that is shown now, and the live feed. Package check judges other chats'
// messages. Package problem reads requests and answers them. In package web, each resource has a
// type that answers its requests.
//
// The package uses the Guard, control's policies and switches, and the journal's types. For the
// store, the chat connections and the database it declares small interfaces and funcs, which the
// command provides. It must not know who implements them.
//
// While the database is failing, everything continues. Changes by people apply at once, and the
// answers contain "saved": false. The dashboard shows a note to everyone until the changes are
// saved.
package web

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"golang.org/x/sync/errgroup"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/check"
	"github.com/chatguard/chatguard/internal/web/live"
	"github.com/chatguard/chatguard/internal/webhook"
)

// Options configures a Server. Fields without a default are required.
type Options struct {
	Site access.Site // how it is reached and protected
	// Guard judges the messages. Its observer must be Server.Observe.
	Guard    *chatguard.Guard
	Store    Records         // the recorded history
	Sessions access.Sessions // identifies callers, even if the database fails
	Members  access.Members  // people who sign in elsewhere; nil means none
	Grants   Grants          // the Sessions' tokens and links; nil means that they can't be managed here

	// Record adds a change to the audit, as control.Controls does. Nil means no audit of changes that
	// are about the whole installation.
	Record func(context.Context, journal.Audit) (saved bool, err error)

	// WrongCode is the error that Sessions.RedeemCode returns, directly or wrapped, for an invalid
	// code.
	WrongCode error

	// Authorize identifies the sender of a request if the dashboard is part of another site. ok is
	// false if the sender has no access. With Authorize, there are no sessions and tokens, and any
	// host name of the site is accepted. The Server calls Authorize for each request. While a live
	// feed is open, it calls Authorize repeatedly with the request that opened the feed. If
	// Authorize is nil, the Sessions and the Site's token decide.
	Authorize func(*http.Request) (who auth.Identity, ok bool)

	// TwitchSignIn lets people sign in with their Twitch accounts; they are the Members. Nil means
	// that it is off. It is off if the dashboard is part of another site, too.
	TwitchSignIn TwitchSignIn

	// ViewerPage turns on the page on which viewers see when they may write again. It is always off
	// if the dashboard is part of another site.
	ViewerPage bool

	// Policies are the channels' policies. The caller must make them notify the Server of changes.
	Policies *control.Policies

	// Channels returns the served channels; the dashboard opens with the first. The Server adds the
	// state of their switches.
	Channels func() []live.Channel

	Connections func() []live.Connection // nil means none
	Database    func() journal.Database  // nil means none

	// Shared returns how this node shares limits, and whether the shared store answers. It is
	// called every second and must not wait. Nil means that this node is alone.
	Shared func() live.Shared

	// Nodes returns the nodes that share limits. It may ask the shared store until ctx ends. If it
	// returns an error while the store is away, the Server lists this node only. The Server calls
	// it at most once per second. Nil means that this node is alone.
	Nodes func(ctx context.Context) (Nodes, error)

	// Leads reports whether this node acts in a channel. ok is false if that isn't known, or no
	// other node could act there. Nil means that no other node acts anywhere.
	Leads func(channelID string) (leads, ok bool)

	// Controls pause channels, start raid mode and change single users. Nil means that only
	// policies can be changed.
	Controls *control.Controls

	// CheckSpace is a prefix for the IDs of channels and users that servers send to POST /check,
	// such as "check:". It keeps them separate from another chat's IDs. Answers contain the IDs as
	// the server sent them. If CheckSpace is empty, the IDs get no prefix.
	CheckSpace string

	// Listed reports whether a server may ask about a channel regardless of how many channels there
	// are. Nil means that no channel is listed.
	Listed func(channelID string) bool

	// Entered is called for each new channel that a server asks about with POST /check, before the
	// first message in it is judged. Nil means no calls.
	Entered func(channelID string)

	// Report is called for each throttled message of a server that uses POST /check. The outcome is
	// that the server drops the message. The caller must pass it on to Server.Report. Nil means no
	// calls.
	Report func(journal.Outcome)

	// ExportPolicy formats a policy in the configuration file's format. Nil means that policies
	// cannot be exported.
	ExportPolicy func(chatguard.Policy) ([]byte, error)

	// Login logs the bot's account in. Nil means that there is no bot.
	Login BotLogin

	// Setup returns what the bot of a channel has and lacks. An empty ID stands for the first
	// channel, if its ID is not known yet. ok is false if no bot is in that channel. Nil means that
	// there is no bot.
	Setup func(channelID string) (setup BotSetup, ok bool)

	// Webhooks sends events to webhooks. Nil means that there are none.
	Webhooks *webhook.Sender

	// Metrics is where the Server registers its metrics, and what GET /metrics shows. It may
	// contain other metrics, but belongs to one Server only. Nil means a new Set.
	Metrics *metrics.Set

	Now func() time.Time // nil means the Guard's clock
	Log *slog.Logger     // nil means slog.Default
}

// Server is the dashboard. It is safe for concurrent use. Create one with New.
type Server struct {
	*live.Model // what is shown now; observes verdicts, follows policies

	opts    Options
	handler http.Handler
	access  *access.Authenticator
	kept    atomic.Bool // whether Keep is running

	checker  *check.Checker
	reads    *longReads
	channels channels

	// The remaining fields answer requests, each for one resource.
	states     states
	overlays   overlays
	viewers    *viewers // nil if there is no page for them
	switches   *switches
	settings   *settings
	policies   *policies
	previews   *previews
	labs       *labs
	users      *users
	amendments *amendments
	archive    *archive
	rankings   *rankings
	summarizer *summarizer
	probes     *probes
	logins     *logins
	grants     *grants
	setups     *setups
	nodes      *nodeLister
	webhooks   *webhooks
}

// New returns a Server that is ready to receive verdicts. It does not listen until Run is called.
func New(opts Options) (*Server, error) {
	if opts.Now == nil {
		opts.Now = opts.Guard.Now
	}
	opts.Log = cmp.Or(opts.Log, slog.Default())
	opts.Metrics = cmp.Or(opts.Metrics, metrics.NewSet())
	if opts.Leads == nil {
		opts.Leads = func(string) (leads, ok bool) { return false, false }
	}
	if opts.Authorize != nil {
		opts.TwitchSignIn = nil
	}
	if opts.TwitchSignIn != nil {
		opts.Members = opts.TwitchSignIn
	}
	s := &Server{opts: opts, Model: newModel(opts), reads: newLongReads()}
	if opts.Controls != nil {
		opts.Controls.JoinRates(s.BusyChannels)
	}
	s.checker = check.New(check.Options{
		Guard: opts.Guard, Space: opts.CheckSpace, Listed: opts.Listed, Entered: opts.Entered, Report: opts.Report, Now: opts.Now,
	})
	var err error
	if s.access, err = access.New(access.Options{
		Site: opts.Site, Authorize: opts.Authorize, Sessions: opts.Sessions, Members: opts.Members, WrongCode: opts.WrongCode, Now: opts.Now, Log: opts.Log,
		NodesShare: s.Shared().NodesShare(),
	}); err != nil {
		return nil, err
	}
	if s.viewers, err = newViewers(s); err != nil {
		return nil, err
	}
	s.joinTwitchSignIn()
	s.createResources()
	if s.grants, err = newGrants(&s.opts, s.access); err != nil {
		return nil, err
	}
	if s.handler, err = s.newHandler(); err != nil {
		return nil, err
	}
	return s, nil
}

// createResources creates the types that answer requests.
func (s *Server) createResources() {
	o := &s.opts
	s.channels = channels{s.Model, s.checker}
	s.states = states{s.Model, s.access}
	s.overlays = overlays{s.channels}
	s.switches = &switches{s.channels, o.Controls}
	s.settings = &settings{s.channels, o.Controls}
	s.policies = &policies{s.channels, o.Guard, o.Policies, s.reads, o.ExportPolicy}
	s.previews = &previews{o.Guard, o.Policies, o.Store, s.reads, newPreviewCache(), o.Now}
	s.labs = &labs{laboratory: newLaboratory(), recordings: storedRecordings{s.channels, o.Store, o.Now}, reads: s.reads, isDashboard: true}
	s.users = &users{s.channels, o.Guard, o.Controls, o.Store, s.reads, o.CheckSpace, o.Now, o.Log}
	s.amendments = &amendments{s.users, o.Controls}
	s.archive = &archive{s.users, o.Store, s.reads, o.Now, o.Log}
	s.logins, s.setups = &logins{o.Login}, &setups{o.Guard, s.Model, o.Setup}
	s.rankings = &rankings{spans{o.Guard, o.Store, o.Now}, s.reads}
	s.summarizer = &summarizer{s.rankings.spans, s.reads, s.previews, newSummaryCache()}
	s.webhooks = &webhooks{o.Webhooks}
	s.nodes = newNodeLister(o.Nodes, o.Now)
	s.probes = &probes{s.Model, o.Guard, s.access, o.Site, o.Authorize != nil, o.Metrics, o.Leads, s.require}
}

// newModel returns the Model of a Server.
func newModel(opts Options) *live.Model {
	o := live.Options{
		Guard: opts.Guard, Policies: opts.Policies, Controls: opts.Controls, Records: opts.Store,
		Channels: opts.Channels, Connections: opts.Connections, Database: opts.Database, Shared: opts.Shared,
		Mounted: opts.Authorize != nil, Metrics: opts.Metrics, Now: opts.Now, Log: opts.Log,
	}
	if public := opts.Site.PublicURL; public != nil {
		o.PublicHost = public.Host
	}
	return live.New(o)
}

// Handler returns the dashboard as a handler that can be mounted at the root of a path. It shows
// changes only while Run or Keep runs. If another site authorizes, the handler refuses every
// request while neither runs.
func (s *Server) Handler() http.Handler { return s.handler }

// Run serves on the listener until ctx ends, and closes the listener. It then closes live feeds and
// finishes requests in progress. It returns nil if it stopped because ctx ended.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	group, ctx := errgroup.WithContext(ctx)
	s.kept.Store(true) // a request may arrive before Keep has begun
	group.Go(func() error { return serve(ctx, listener, s.handler, s.opts.Log) })
	group.Go(func() error {
		s.Keep(ctx)
		return nil
	})
	return group.Wait()
}

// Keep keeps the dashboard up to date until ctx ends. It then closes the live feeds and waits for
// them. Use it with a Handler that is part of another site; Run includes it. Run and Keep may be
// called only once.
func (s *Server) Keep(ctx context.Context) {
	s.kept.Store(true)
	var forgetting sync.WaitGroup
	forgetting.Go(func() { s.previews.cache.forgetUntil(ctx, s.opts.Now) })
	s.Model.Update(ctx)
	s.kept.Store(false)
	s.Model.Close()
	forgetting.Wait()
}

// Amended judges a user again after a change of the user, as live.Model.Amended does.
func (s *Server) Amended(channelID, userID string) {
	s.viewers.forget(channelID, userID)
	s.Model.Amended(channelID, userID)
}

// Asked returns the IDs of the channels that servers have asked about with POST /check since the
// start, in sorted order.
func (s *Server) Asked() []string { return s.checker.Channels() }
