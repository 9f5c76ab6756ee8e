package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/live"
	"github.com/chatguard/chatguard/internal/web/problem"
	"github.com/chatguard/chatguard/shared"
)

// Nodes describes how several nodes share limits: the shared store, what this node has done with it
// since its start, and all nodes.
type Nodes struct {
	live.Shared
	Server  string `json:"server,omitempty"` // for example "redis 7.0.15"; empty if it was never reached
	IfEqual bool   `json:"if_equal"`         // the server compares and sets by itself, without a script

	RoundTripMS float64 `json:"round_trip_ms"` // from this node to the server and back
	OffsetMS    float64 `json:"offset_ms"`     // the server's clock minus this node's
	SkewMS      float64 `json:"skew_ms"`       // the maximum difference of two nodes' clocks

	Swaps      int64 `json:"swaps"`       // swaps that replaced or confirmed rows
	Conflicts  int64 `json:"conflicts"`   // swaps that found other rows, because another node was first
	FromMemory int64 `json:"from_memory"` // messages decided without the store, because the result was certain
	Apart      int64 `json:"apart"`       // messages decided without the store, because the store was away
	Owed       int   `json:"owed"`        // rows that still have to be written to the store
	Healed     int64 `json:"healed"`      // rows that the store had lost, and got back
	Unreadable int64 `json:"unreadable"`  // messages decided without the store, because a row can't be read
	// Overshoot is how many messages exceeded a limit in the last hour, because nodes hadn't
	// compared yet. It is a fraction of the messages that this node allowed: 0.01 is 1 %. Nil means
	// that the mode isn't synchronised, that the overshoot isn't measured, or that no messages were
	// allowed.
	Overshoot *float64 `json:"overshoot,omitempty"`

	Nodes []Node `json:"nodes"` // in the order of their names
}

// Count sets what this node has done with the store.
func (n *Nodes) Count(s shared.Counts) {
	n.Swaps, n.Conflicts, n.FromMemory, n.Apart = s.Swaps, s.Conflicts, s.FromMemory, s.Offline
	n.Owed, n.Healed, n.Unreadable = s.Pending, s.Healed, s.Unreadable
}

// Milliseconds returns a duration in milliseconds.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Node is a node that shares limits.
type Node struct {
	Name    string         `json:"name"`
	Version string         `json:"version,omitempty"`
	Address string         `json:"address,omitempty"` // where people reach it
	Mode    live.ShareMode `json:"mode"`
	Started time.Time      `json:"started,omitzero"`
	Self    bool           `json:"self"` // it is the node that answers

	OffsetMS          float64 `json:"offset_ms"` // the server's clock minus the node's
	ErrorMS           float64 `json:"error_ms"`  // how far the node's idea of the server's clock may be off
	MessagesPerSecond float64 `json:"messages_per_second"`

	FromMemory int64 `json:"from_memory"` // this and the following as in Nodes
	Apart      int64 `json:"apart"`
	Owed       int   `json:"owed"`
}

const (
	nodesFresh   = time.Second     // how long an answer of the shared store is reused
	nodesTimeout = 2 * time.Second // maximum wait for the shared store
)

// nodeLister answers requests for the nodes. It asks the shared store one question at a time and at
// most one per second, for all callers together. It is safe for concurrent use.
type nodeLister struct {
	list func(context.Context) (Nodes, error) // nil if this node is alone
	now  func() time.Time

	turn chan struct{} // holds a value while the following fields are used
	// known and err are the last result of list, and at is when it came; zero if never.
	known Nodes
	err   error
	at    time.Time
}

func newNodeLister(list func(context.Context) (Nodes, error), now func() time.Time) *nodeLister {
	return &nodeLister{list: list, now: now, turn: make(chan struct{}, 1)}
}

// alone is the answer if no limits are shared.
type alone struct {
	Mode  live.ShareMode `json:"mode"`
	Nodes []Node         `json:"nodes"`
}

// get is GET /nodes.
func (h *nodeLister) get(w http.ResponseWriter, r *http.Request, _ access.Caller) error {
	var found Nodes
	if h.list != nil {
		var err error
		if found, err = h.ask(r.Context()); err != nil {
			return problem.New(http.StatusServiceUnavailable, "The shared store doesn't list the nodes. Try again when it is back.").Because(err)
		}
	}
	if mode := cmp.Or(found.Mode, live.ShareOff); mode == live.ShareOff {
		return problem.WriteJSON(w, alone{mode, []Node{}})
	}
	found.Nodes = append([]Node{}, found.Nodes...) // an empty list in JSON, never null
	return problem.WriteJSON(w, found)
}

// ask returns the nodes as they were at most nodesFresh ago. The request to the store goes on if
// ctx ends, because other callers may wait for its answer.
func (h *nodeLister) ask(ctx context.Context) (Nodes, error) {
	if !take(ctx, h.turn) {
		return Nodes{}, ctx.Err()
	}
	defer func() { <-h.turn }()
	if age := h.now().Sub(h.at); !h.at.IsZero() && age >= 0 && age < nodesFresh {
		return h.known, h.err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), nodesTimeout)
	defer cancel()
	before := h.known.Nodes
	h.known, h.err = h.list(ctx)
	if h.err != nil && h.known.IsAway() { // the page says so
		h.err = nil
		h.known.Nodes = slices.DeleteFunc(slices.Clone(before), func(n Node) bool { return !n.Self })
	}
	h.at = h.now()
	return h.known, h.err
}
