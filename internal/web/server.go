// Package web serves the dashboard: its files, the JSON API under /api/v1, the live feed, sign-in, health and metrics.
//
// It knows the Guard and the journal's types. What it needs from the store, the chat connections and the database it declares here, as
// small interfaces and funcs that the command wires; it must not know who implements them.
//
// While the database is in trouble everything goes on: what people change holds at once, is answered with "saved": false, and everyone is told
// until it is saved.
package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"golang.org/x/sync/errgroup"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// Options say what a Server shows and to whom. Fields without a default are required.
type Options struct {
	Site  Site             // where it is reached, and how it is protected
	Guard *chatguard.Guard // judges; its observer is Server.Observe
	Store Store            // keeps revisions, knows sessions; also while its database is in trouble

	// WrongCode is what Store.RedeemCode returns, as it is or wrapped, for a code that signs nobody in.
	WrongCode error

	// Authorize says who sends a request, and false for somebody who may not come in, where the dashboard is part of another site. Then there are no
	// sessions and tokens of ours, and every name is fine that the site answers to. Each request asks it, and open live feeds ask again about the one
	// that they began with. Nil means that the Store and the Site's token tell.
	Authorize func(*http.Request) (who journal.Holder, ok bool)

	// BasePolicy returns the configuration's policy of a channel: what holds when nobody has changed anything.
	BasePolicy func(channelID string) chatguard.Policy

	Channels    func() []Channel    // the channels it serves, the first one being shown first
	Connections func() []Connection // nil means there are none
	Database    func() Database     // nil means there is none

	// Controls pause channels, begin raid mode and change single users. They tell Server.Changed of channels whose switches change. Nil means that
	// only policies can be changed.
	Controls Controls

	// CheckSpace stands before the IDs of the channels and users that servers ask about by POST /check, so that these never share anything with another
	// chat's ("check:"). Answers have the IDs as the server sent them. Empty: the IDs are as the server sends them.
	CheckSpace string

	// Listed reports whether a channel that a server asks about has a place however many there are. Nil means that none has.
	Listed func(channelID string) bool

	// Entered is told of each channel that a server asks about by POST /check, before the first message there is judged. Nil means that nobody is told.
	Entered func(channelID string)

	// Report is told what a server that asks by POST /check does about a throttled message: it drops it. Nil means that nobody is told.
	Report func(journal.Outcome)

	// ExportPolicy writes a policy the way the configuration file has it. Nil means that it can't be exported.
	ExportPolicy func(chatguard.Policy) ([]byte, error)

	// Acceptable says what a channel's valid policy can't have here, as a sentence for whoever saves it. Nil means nothing.
	Acceptable func(channelID string, p chatguard.Policy) error

	// Metrics is where the Server puts its figures, beside those of others, and what GET /metrics shows. It is for one Server only. Nil means a
	// new one.
	Metrics *metrics.Set

	Now func() time.Time // nil means the Guard's clock
	Log *slog.Logger     // nil means slog.Default
}

// Store keeps what a person changes, and knows who is signed in.
type Store interface {
	Sessions
	Revisions
	Records
}

// Server is the dashboard. It is safe for concurrent use; make one with New.
type Server struct {
	opts    Options
	handler http.Handler
	access  *access
	board   *board
	tallies *tallies
	feed    *feed
	seats   seats // of live feeds
	begins  *snapshots
	live    gate        // the WebSockets being served
	refused sync.Once   // tells of the first live feed that was
	proxied sync.Once   // tells of the first request through a proxy that isn't trusted
	kept    atomic.Bool // what is shown is being kept up to date

	ending context.Context    // over shortly after Keep was told to stop: live feeds whose readers don't read are cut off then
	cut    context.CancelFunc // ends ending

	override sync.Mutex // held by whoever is changing what a user has of their own
	policy   sync.Mutex // held by whoever is changing a policy, until it is kept; nobody else waits for it
	revised  noted      // the channels to be judged again
	switched noted      // the channels to be judged again and told of
	unsaved  unsaved    // the channels whose policy a restart would undo
	previews *previews  // what was read for them
	reads    *longReads
	checked  checkedChannels
}

// New returns a Server that is ready to be told verdicts; it listens only once it is Run.
func New(opts Options) (*Server, error) {
	if opts.Now == nil {
		opts.Now = opts.Guard.Now
	}
	if opts.Log == nil {
		opts.Log = slog.Default()
	}
	if opts.Metrics == nil {
		opts.Metrics = metrics.NewSet()
	}
	s := &Server{opts: opts, board: newBoard(), feed: newFeed(opts.Now()), begins: newSnapshots(), tallies: newTallies(opts.Metrics, opts.Now()), previews: newPreviews()}
	s.reads = newLongReads()
	s.ending, s.cut = context.WithCancel(context.Background())
	var err error
	if s.access, err = newAccess(opts); err != nil {
		return nil, err
	}
	s.register(opts.Metrics)
	if s.handler, err = s.routes(); err != nil {
		return nil, err
	}
	return s, nil
}

// register adds the figures that are asked for when they are shown; tallies adds those that count.
func (s *Server) register(set *metrics.Set) {
	set.NewGauge("chatguard_throttled_users", func() float64 { return float64(s.board.len("")) })
	set.NewGauge("chatguard_live_feeds", func() float64 { return float64(s.feed.len()) })
	for name, value := range map[string]func(chatguard.Memory) float64{
		"chatguard_users":                    func(m chatguard.Memory) float64 { return float64(m.Users) },
		"chatguard_users_forgotten_total":    func(m chatguard.Memory) float64 { return float64(m.Forgotten) },
		"chatguard_users_evicted_total":      func(m chatguard.Memory) float64 { return float64(m.Evicted) },
		"chatguard_users_evicted_held_total": func(m chatguard.Memory) float64 { return float64(m.Held) },
	} {
		set.NewGauge(name, func() float64 { return value(s.opts.Guard.Memory()) })
	}
}

// Handler returns the dashboard as a handler, to be mounted at the root of a path. It shows changes only while Run or Keep runs; where another site
// authorizes, it refuses every request without.
func (s *Server) Handler() http.Handler { return s.handler }

// graceful is how long requests under way may take once the Server is told to stop.
const graceful = 5 * time.Second

// farewell is how long the readers of live feeds may take to say goodbye.
const farewell = 500 * time.Millisecond

// Run serves on the listener, which it closes, until ctx ends; live feeds are then closed and requests under way finished. It returns nil
// when ctx ended it.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      30 * time.Second, // a live feed has one of its own
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(s.opts.Log.Handler(), slog.LevelDebug),
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("web: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		s.Keep(ctx)
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), graceful)
		defer cancel()
		if server.Shutdown(late) != nil {
			server.Close() // what is still under way had its time
		}
		return nil
	})
	return group.Wait()
}

// Keep keeps what is shown up to date until ctx ends; live feeds are then closed and waited for. Run does so by itself: Keep is for a Handler that is
// part of another site. Neither may be called twice.
func (s *Server) Keep(ctx context.Context) {
	s.kept.Store(true)
	var remembering sync.WaitGroup
	remembering.Go(func() { s.remember(ctx) })
	s.pump(ctx)
	s.kept.Store(false)
	s.feed.close()
	defer time.AfterFunc(farewell, s.cut).Stop()
	s.live.close()
	remembering.Wait()
}

// Observe takes note of a verdict. It fits chatguard.Options.Observer: it never waits for disk, network or a reader, and an allowed
// message of a user who isn't on the board only moves counters.
func (s *Server) Observe(m chatguard.Message, v chatguard.Verdict) {
	s.tallies.count(&v)
	if v.Throttled() {
		s.board.put(journal.NewEntry(m, v), m.User.Roles, m.Cost, s.opts.Now())
	} else {
		s.board.allow(v.ChannelID, v.UserID, v.At)
	}
}

// Heard are the IDs of the channels that verdicts were told of since the start, in order; of more than a thousand, the first thousand.
func (s *Server) Heard() []string { return s.tallies.channels() }

// Report takes note of what was done about a throttled message, and how that went. It never blocks.
func (s *Server) Report(o journal.Outcome) {
	s.tallies.outcome(o)
	s.board.report(o)
}

// Preload shows the users of the journal's entries whom the Guard holds back still, as after a restart.
func (s *Server) Preload(entries []journal.Entry) {
	now := s.opts.Now()
	s.board.preload(entries, now)
	s.judgeAgain("", now)
}
