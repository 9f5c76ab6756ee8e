package dashboard

import (
	"cmp"
	"context"
	"time"

	"github.com/chatguard/chatguard/internal/web"
	"github.com/chatguard/chatguard/internal/web/live"
	"github.com/chatguard/chatguard/shared"
)

// Node is a node that shares limits, as in redisstore's Node. Zero counts may mean that the node
// doesn't report them.
type Node struct {
	Name    string
	Version string
	Address string      // where people reach the node
	Mode    shared.Mode // how the node shares limits
	Started time.Time
	Self    bool          // this node
	Offset  time.Duration // the server's clock minus the node's
	Error   time.Duration // how far the clock that the node uses may be from the server's

	MessagesPerSecond float64
	FromMemory        int64 // messages decided without the store, because the answer was certain
	Offline           int64 // messages decided without the store, because it didn't answer
	Pending           int   // rows that still have to be written to the store
}

// showShared completes the options of the web server, if the page shows the shared store.
func (o *Options) showShared(guard shared.Guard, to *web.Options) {
	if o.SharedHealth == nil {
		return
	}
	to.Live.Shared = func() live.Shared { return liveOf(guard, o.SharedHealth()) }
	to.Nodes = func(ctx context.Context) (web.Nodes, error) { return o.nodes(ctx, guard) }
}

// liveOf returns the state of the store as the page shows it.
func liveOf(guard shared.Guard, h shared.Health) live.Shared {
	s := live.Shared{Mode: live.ShareMode(guard.Mode()), Up: h.Up, Refusing: h.Refusing, Since: h.Since, Problem: h.Problem}
	s.AddProblem(guard.Counts())
	return s
}

// nodes returns what the page shows about the nodes.
func (o *Options) nodes(ctx context.Context, guard shared.Guard) (n web.Nodes, err error) {
	var nodes []Node
	if o.Nodes != nil {
		nodes, err = o.Nodes(ctx)
	}
	h, did := o.SharedHealth(), guard.Counts() // afterwards, because Nodes may find that the store is away
	n.Shared, n.Server, n.IfEqual = liveOf(guard, h), h.Server, h.IfEqual
	n.RoundTripMS, n.OffsetMS, n.SkewMS = web.Milliseconds(h.RoundTrip), web.Milliseconds(h.Offset), web.Milliseconds(h.Skew)
	n.Count(did)
	for i := range nodes {
		n.Nodes = append(n.Nodes, nodes[i].web(did))
	}
	return n, err
}

// web returns the node as the page shows it. own are this Guard's counts. They replace the node's
// counts if the node is this one.
func (n *Node) web(own shared.Counts) web.Node {
	shown := web.Node{
		Name: n.Name, Version: n.Version, Address: n.Address, Mode: live.ShareMode(cmp.Or(n.Mode, shared.Exact)), Started: n.Started, Self: n.Self,
		OffsetMS: web.Milliseconds(n.Offset), ErrorMS: web.Milliseconds(n.Error), MessagesPerSecond: n.MessagesPerSecond,
		FromMemory: n.FromMemory, Apart: n.Offline, Owed: n.Pending,
	}
	if n.Self {
		shown.FromMemory, shown.Apart, shown.Owed = own.FromMemory, own.Offline+own.Unreadable, own.Pending
	}
	return shown
}
