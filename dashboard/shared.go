package dashboard

import (
	"context"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/web"
	"github.com/chatguard/chatguard/internal/web/live"
	"github.com/chatguard/chatguard/shared"
)

// Shared describes to a Dashboard the store of a Guard with Options.Shared, and the other nodes.
// Its functions pass on what package redisstore's Store returns from Health and Nodes.
type Shared struct {
	// Mode is the Guard's Options.SharedMode.
	Mode shared.Mode
	// State returns the state of the store. It is required, is called each second, and must not
	// wait.
	State func() SharedState
	// Nodes returns all nodes that share limits, with this one, in the order in which they are
	// shown. It is called at most once per second, and only while somebody looks at the nodes. It
	// may ask the store until ctx ends. Nil means that the nodes aren't shown.
	Nodes func(ctx context.Context) ([]Node, error)
}

// SharedState is the state of a shared store, as in redisstore's Health.
type SharedState struct {
	Up       bool      // whether the store answers
	Refusing bool      // whether it answers, but refuses to swap rows
	Since    time.Time // start of the current state, up or away
	// Problem is one line that names a problem and its fix. It is empty if there is none.
	Problem string
	Server  string // for example "valkey 8.1.1"; empty if it was never reached
	// IfEqual means that the server compares and sets by itself, without a script.
	IfEqual   bool
	RoundTrip time.Duration // from this node to the server and back
	Offset    time.Duration // the server's clock minus this machine's
	Skew      time.Duration // the maximum difference between the clocks of two nodes
}

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

var shareModes = map[shared.Mode]live.ShareMode{
	shared.Exact: live.ShareExact, shared.Synchronised: live.ShareSynchronised,
}

// join completes the options of the web server.
func (s *Shared) join(guard *chatguard.Guard, o *web.Options) {
	if s == nil {
		return
	}
	o.Live.Shared = func() live.Shared { return s.live(s.State(), guard.Shared().Counts()) }
	o.Nodes = func(ctx context.Context) (web.Nodes, error) { return s.nodes(ctx, guard.Shared().Counts()) }
}

func (s *Shared) live(state SharedState, sharing shared.Counts) live.Shared {
	shared := live.Shared{Mode: shareModes[s.Mode], Up: state.Up, Refusing: state.Refusing, Since: state.Since, Problem: state.Problem}
	shared.AddProblem(sharing)
	return shared
}

func (s *Shared) nodes(ctx context.Context, sharing shared.Counts) (n web.Nodes, err error) {
	var nodes []Node
	if s.Nodes != nil {
		nodes, err = s.Nodes(ctx)
	}
	state := s.State() // afterwards, because Nodes may find that the store is away
	n.Shared = s.live(state, sharing)
	n.Server, n.IfEqual = state.Server, state.IfEqual
	n.RoundTripMS, n.OffsetMS, n.SkewMS = web.Milliseconds(state.RoundTrip), web.Milliseconds(state.Offset), web.Milliseconds(state.Skew)
	n.Count(sharing)
	for i := range nodes {
		n.Nodes = append(n.Nodes, nodes[i].web(sharing))
	}
	return n, err
}

// web returns the node as the page shows it. own are this Guard's counts. They replace the node's
// counts if the node is this one.
func (n *Node) web(own shared.Counts) web.Node {
	shown := web.Node{
		Name: n.Name, Version: n.Version, Address: n.Address, Mode: shareModes[n.Mode], Started: n.Started, Self: n.Self,
		OffsetMS: web.Milliseconds(n.Offset), ErrorMS: web.Milliseconds(n.Error), MessagesPerSecond: n.MessagesPerSecond,
		FromMemory: n.FromMemory, Apart: n.Offline, Owed: n.Pending,
	}
	if n.Self {
		shown.FromMemory, shown.Apart, shown.Owed = own.FromMemory, own.Offline+own.Unreadable, own.Pending
	}
	return shown
}
