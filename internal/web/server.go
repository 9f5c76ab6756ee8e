// Package web serves the dashboard: its files, the JSON API under /api/v1, the live feed, sign-in,
// health and metrics.
//
// Some parts are separate packages. Package access decides who may use the dashboard. Package live
// contains the data that is shown now, and the live feed. Package check judges other chats'
// messages. Package problem reads requests and answers them. In package web, a type answers the
// requests for each group of related resources; a few need only a function.
//
// The package uses the Guard, its policies and switches, and the journal's types. For the
// store, the chat connections and the database it declares small interfaces and funcs, which the
// command provides. It must not know who implements them.
//
// While the database is failing, everything continues. Changes by people apply at once, and the
// answers contain "saved": false. The dashboard shows a note to everyone until the changes are
// saved.
package web

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/check"
	"github.com/chatguard/chatguard/internal/web/live"
	"github.com/chatguard/chatguard/internal/webhook"
	"github.com/chatguard/chatguard/shared"
)

// Options configures a Server. Fields without a default are required.
type Options struct {
	// Live is what is shown now. The observer of its Guard must be Server.Observe, and the caller
	// must make its Policies notify the Server of changes. The Server adds its own metrics to those
	// of Live, and GET /metrics shows them all. The metrics belong to one Server only. The Server
	// uses the Guard's clock, and logs where Live does. It derives Live.PublicURL and Live.Mounted
	// from Access.
	Live live.Options
	// Access is how the dashboard is reached, and who has access. With Authorize, the dashboard is
	// part of another site. There are then no sessions and tokens, and any host name of the site is
	// accepted. The Server derives Access.NodesShare from Live.
	Access access.Options
	Check  check.Options // how messages of other chats are judged

	Store  Records // the recorded history
	Grants Grants  // the tokens and links of Access.Sessions; nil means that they can't be managed here

	// Record adds a change to the audit, as package control does. Nil means no audit of changes
	// that are about the whole installation.
	Record func(context.Context, journal.Audit) (saved bool, err error)

	// TwitchSignIn lets people sign in with their Twitch accounts. Access.Members has their
	// sessions. Nil means that nobody can. TwitchSignIn is ignored if the dashboard is part of
	// another site.
	TwitchSignIn TwitchSignIn

	// ViewerPage turns on the page on which viewers see when they may write again. It is always off
	// if the dashboard is part of another site.
	ViewerPage bool

	// Nodes returns the nodes that share limits. It may ask the shared store until ctx ends. If it
	// returns an error while the store is away, the Server lists this node only. The Server calls
	// it at most once per second. Nil means that the nodes aren't listed.
	Nodes func(ctx context.Context) ([]shared.Node, error)

	// Leads reports whether this node acts in a channel. ok is false if that isn't known, or no
	// other node could act there. Nil means that no other node acts anywhere.
	Leads func(channelID string) (leads, ok bool)

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
	modes      *modes
	policies   *channelPolicies
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
	if opts.Leads == nil {
		opts.Leads = func(string) (leads, ok bool) { return false, false }
	}
	if opts.Access.Authorize != nil {
		opts.TwitchSignIn = nil
	}
	opts.Live.PublicURL, opts.Live.Mounted = opts.Access.Site.PublicURL, opts.Access.Authorize != nil
	s := &Server{opts: opts, Model: live.New(opts.Live), checker: check.New(opts.Check), reads: newLongReads()}
	s.opts.Access.NodesShare = s.Shared().Mode != ""
	if s.opts.Live.Controls == nil {
		s.opts.Live.Controls = &control.Controls{}
	} else {
		s.opts.Live.Controls.Raids.JoinRates(s.BusyChannels)
	}
	var err error
	if s.access, err = access.New(s.opts.Access); err != nil {
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
	guard, controls, now, log := o.Live.Guard, o.Live.Controls, o.Live.Guard.Now, o.Live.Log
	s.channels = channels{s.Model, s.checker}
	s.states = states{s.Model, s.access}
	s.overlays = overlays{s.channels}
	s.switches = &switches{s.channels, controls.Switches, controls.Raids}
	s.modes = &modes{controls.Modes}
	s.settings = &settings{s.channels, controls.Settings}
	s.policies = &channelPolicies{s.channels, guard, o.Live.Policies, s.reads, o.ExportPolicy}
	s.previews = &previews{guard, o.Live.Policies, o.Store, s.reads, newPreviewCache()}
	s.labs = newLabs()
	s.labs.recordings, s.labs.reads, s.labs.isDashboard = storedRecordings{s.channels, o.Store, now}, s.reads, true
	s.users = &users{s.channels, guard, controls.Silences, o.Store, s.reads, o.Check.Space, log}
	s.amendments = &amendments{s.users, controls}
	s.archive = &archive{s.users, o.Store, s.reads, log}
	s.logins, s.setups = &logins{o.Login}, &setups{guard, s.Model, o.Setup}
	s.rankings = &rankings{spans{guard, o.Store}, s.reads}
	s.summarizer = &summarizer{s.rankings.spans, s.reads, s.previews, &summaryCache{kept: map[summaryKey]keptSummary{}}}
	s.webhooks = &webhooks{o.Webhooks}
	s.nodes = newNodeLister(o.Nodes, s.Shared, guard.Shared().Counts, now)
	s.probes = &probes{s.Model, guard, s.access, o.Access.Site, o.Access.Authorize != nil, o.Live.Metrics, o.Leads, s.require}
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
	group.Go(func() error { return serve(ctx, listener, s.handler, s.opts.Live.Log) })
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
	forgetting.Go(func() { s.previews.cache.forgetUntil(ctx, s.opts.Live.Guard.Now) })
	s.Model.Update(ctx)
	s.kept.Store(false)
	s.Model.Close()
	forgetting.Wait()
}

// Amended judges a user again after a change of the user, as live.Model.Amended does. The page for
// viewers then reads the user's record again.
func (s *Server) Amended(channelID, userID string) {
	if s.viewers != nil {
		s.viewers.records.forget(channelID, userID)
	}
	s.Model.Amended(channelID, userID)
}

// Silenced shows a user's new timeout or ban, or its end, as live.Model.Silenced does. The page for
// viewers then reads the user's record again.
func (s *Server) Silenced(channelID, userID, login string) {
	if s.viewers != nil {
		s.viewers.records.forget(channelID, userID)
	}
	s.Model.Silenced(channelID, userID, login)
}

// Asked returns the IDs of the channels that servers have asked about with POST /check since the
// start, in sorted order.
func (s *Server) Asked() []string { return s.checker.Channels() }
