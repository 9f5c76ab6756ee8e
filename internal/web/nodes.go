package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/live"
	"github.com/chatguard/chatguard/internal/web/problem"
	"github.com/chatguard/chatguard/shared"
)

// Nodes describes how several nodes share limits.
type Nodes struct {
	live.Shared
	Counts shared.Counts `json:"counts,omitzero"` // of this node
	List   []shared.Node `json:"nodes"`           // in the order of their names
}

const (
	nodesFresh   = time.Second     // how long an answer of the shared store is reused
	nodesTimeout = 2 * time.Second // maximum wait for the shared store
)

// nodeLister answers requests for the nodes. It asks the shared store one question at a time and at
// most one per second, for all callers together. It is safe for concurrent use.
type nodeLister struct {
	list   func(context.Context) ([]shared.Node, error) // nil if nodes aren't listed
	state  func() live.Shared
	counts func() shared.Counts
	now    func() time.Time

	turn chan struct{} // holds a value while the following fields are used
	// known and err are the last result of list, and at is when it came; zero if never.
	known Nodes
	err   error
	at    time.Time
}

func newNodeLister(list func(context.Context) ([]shared.Node, error), state func() live.Shared, counts func() shared.Counts, now func() time.Time) *nodeLister {
	return &nodeLister{list: list, state: state, counts: counts, now: now, turn: make(chan struct{}, 1)}
}

// alone is the answer if no limits are shared.
type alone struct {
	Mode  shared.Mode   `json:"mode"`
	Nodes []shared.Node `json:"nodes"`
}

// get is GET /nodes.
func (h *nodeLister) get(w http.ResponseWriter, r *http.Request, _ access.Caller) error {
	if h.state().Mode == "" {
		return problem.WriteJSON(w, alone{live.ShareOff, []shared.Node{}})
	}
	found, err := h.ask(r.Context())
	if err != nil {
		return errUnlisted(problem.New(http.StatusServiceUnavailable, "The shared store doesn't list the nodes; chatguard's log has the details."), err)
	}
	return problem.WriteJSON(w, found)
}

// errUnlisted returns the problem for a list that the shared store doesn't send, with its cause.
func errUnlisted(p *problem.Problem, err error) error {
	if errors.Is(err, shared.ErrAway) {
		return p.BecauseOfOutage(err)
	}
	return p.Because(err)
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
	var nodes []shared.Node
	if h.err = nil; h.list != nil {
		nodes, h.err = h.list(ctx)
	}
	state, counts := h.state(), h.counts() // afterwards, because list may find that the store is away
	if h.err != nil && state.IsAway() {    // the page says so
		nodes, h.err = slices.DeleteFunc(slices.Clone(h.known.List), func(n shared.Node) bool { return !n.Self }), nil
		for i := range nodes {
			nodes[i].Counts = counts
		}
	}
	h.known = Nodes{state, counts, append([]shared.Node{}, nodes...)} // an empty list in JSON, never null
	h.at = h.now()
	return h.known, h.err
}
