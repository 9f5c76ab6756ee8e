// Package node makes this process one of several nodes that share limits. It opens the shared store
// of the configuration, connects the Guard with the other nodes, and reports what they do. A
// process without a shared store is a Node that is alone. The package must not know the database or
// Twitch.
package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/clock"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/internal/web/live"
	"github.com/chatguard/chatguard/redisstore"
	"github.com/chatguard/chatguard/shared"
)

// Node is this process among the nodes that share limits. Create one with Open.
type Node struct {
	// Standby acts in a channel if this node leads there. It is nil if this node is alone, or if
	// there is no Twitch channel.
	Standby *chat.Standby

	config  config.Config
	address string
	log     *slog.Logger
	store   *redisstore.Store // nil if this node is alone
	guard   *chatguard.Guard  // nil before Join
	seeds   bool              // the Node only copies the state of a database into the store
	figures figures
	name    atomic.Value // nil until it is known
}

// Options configure a Node. Config, Log and Metrics are required.
type Options struct {
	Config  config.Config // at the start
	Log     *slog.Logger
	Metrics *metrics.Set
	Version string // of the program, for other nodes
	Address string // of the dashboard, for other nodes
}

// Open opens the shared store, if the configuration has one. A store that can't be reached is no
// error.
func Open(ctx context.Context, o Options) (*Node, error) {
	n := &Node{config: o.Config, address: o.Address, log: o.Log}
	if !o.Config.Shared.HasStore() {
		return n, nil
	}
	if err := CheckPolicies(o.Config); err != nil {
		return nil, err
	}
	var err error
	n.store, err = OpenStore(ctx, o.Config, o.Log, func(opts *redisstore.Options) {
		opts.Version = o.Version
		opts.Describe = func(described *shared.Node) { n.describe(described, time.Now()) }
	})
	if err != nil {
		return nil, err
	}
	n.registerMetrics(o.Metrics)
	if len(o.Config.Twitch.Channels) > 0 {
		n.Standby = chat.NewStandby(func(channelID string) chat.Lease { return n.store.Lead(channelID) }, n.log)
	}
	return n, nil
}

// OpenToSeed returns a Node whose Guard copies the state of a database into the shared store.
func OpenToSeed(ctx context.Context, c config.Config) (*Node, error) {
	store, err := OpenStoreUp(ctx, c)
	if err != nil {
		return nil, err
	}
	return &Node{config: c, store: store, seeds: true}, nil
}

// Share adds the shared store to the options of the Guard. All nodes then use one clock.
func (n *Node) Share(o *chatguard.Options) {
	if n.store == nil {
		return
	}
	o.Now, o.Shared, o.SharedMode = nil, n.store, shared.Mode(n.config.Shared.Mode)
	if n.seeds {
		o.SharedMode = shared.Exact
	}
}

// Join connects the Node with a Guard, and counts the Guard's verdicts. The Guard must have the
// options that Share has changed.
func (n *Node) Join(g *chatguard.Guard) {
	n.guard = g
	if n.store != nil {
		g.AddObserver(n.figures.observe)
		n.figures.overshoot(time.Now(), shared.Counts{}) // its hour begins now
	}
}

// KeepsState reports whether the users' state is in the shared store instead of the database.
func (n *Node) KeepsState() bool { return n.config.Shared.Mode == config.ShareExact && !n.seeds }

// Run connects the Guard with the other nodes until ctx ends.
func (n *Node) Run(ctx context.Context) error {
	if n.store == nil {
		return nil
	}
	var watching sync.WaitGroup
	defer watching.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	watching.Go(func() { n.watchUnreadable(ctx) })
	return n.store.Run(ctx, n.guard)
}

// unreadableEvery is the time between two checks of watchUnreadable.
const unreadableEvery = 10 * time.Second

// watchUnreadable logs when messages are decided without the store because a row can't be read.
func (n *Node) watchUnreadable(ctx context.Context) {
	for before := int64(0); clock.Sleep(ctx, unreadableEvery) == nil; {
		sharing := n.guard.Shared().Counts()
		if more := sharing.Unreadable - before; more > 0 {
			n.log.Warn("messages are judged without the other nodes, because rows of the shared store can't be read; run the same version on all nodes",
				"messages", more, "problem", sharing.Problem)
		}
		before = sharing.Unreadable
	}
}

// State returns how this node shares limits.
func (n *Node) State() live.Shared {
	s := live.Shared{Mode: shared.Mode(n.config.Shared.Mode), Health: shared.Health{Up: true}}
	if n.store != nil {
		s.Health = n.store.Health()
	}
	return s
}

// Nodes returns all nodes that share limits over the store.
func (n *Node) Nodes(ctx context.Context) ([]shared.Node, error) {
	if n.store == nil {
		return nil, nil
	}
	return n.store.Nodes(ctx)
}

// Leads reports whether this node acts in a channel. ok is false if no other node could act there,
// or before the channel's first message.
func (n *Node) Leads(channelID string) (leads, ok bool) {
	if n.Standby == nil {
		return false, false
	}
	acting, ok := n.Standby.Acting(channelID)
	return acting.Self, ok
}

// documents adapts the shared store to policies.Documents.
type documents struct{ *redisstore.Store }

// SetDocument implements policies.Documents.
func (d documents) SetDocument(ctx context.Context, name string, data []byte, revision int64) error {
	err := d.Store.SetDocument(ctx, name, data, revision)
	if errors.Is(err, redisstore.ErrConflict) {
		return fmt.Errorf("%w (%w)", policies.ErrStale, err)
	}
	return err
}

// Documents returns where people's changes are shared, or nil if this node is alone.
func (n *Node) Documents() policies.Documents {
	if n.store == nil || n.seeds {
		return nil
	}
	return documents{n.store}
}

// Delete deletes what the shared store knows about a user.
func (n *Node) Delete(ctx context.Context, userID string) error {
	if n.store == nil {
		return nil
	}
	_, err := n.store.Delete(ctx, userID)
	return err
}

// Close closes the connections to the shared store.
func (n *Node) Close() error {
	if n.store == nil {
		return nil
	}
	return n.store.Close()
}
