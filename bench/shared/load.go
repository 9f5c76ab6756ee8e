package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/chatguard/chatguard/bench/internal/sequence"
)

// load is what the nodes do in a run.
type load struct {
	Name       string
	Users      int
	Spread     sequence.Spread
	Rules      rules
	Nodes      int
	Goroutines int // of all nodes
	// Fill means that each user writes two messages, and then the run ends.
	Fill bool
	// Exchange means that each user writes one message, and then one Exchange sends them all, again
	// and again. The exchanges are measured instead of the checks.
	Exchange bool
	// Known means that the warm-up is longer, so that the first messages of all users are exchanged
	// in it.
	Known bool
}

// goroutines is the number of goroutines in all unless there is one.
const goroutines = 64

var (
	uniform   = load{Name: "uniform, 100,000 users", Users: 100_000, Rules: chat, Nodes: 1, Goroutines: goroutines}
	allowed1  = load{Name: "always allowed, 5,000 users, 1 node", Users: 5_000, Rules: large, Nodes: 1, Goroutines: goroutines}
	allowed2  = load{Name: "always allowed, 5,000 users, 2 nodes", Users: 5_000, Rules: large, Nodes: 2, Goroutines: goroutines}
	allowed4  = load{Name: "always allowed, 5,000 users, 4 nodes", Users: 5_000, Rules: large, Nodes: 4, Goroutines: goroutines}
	zipf      = load{Name: "Zipf 1.1, 100,000 users, 2 nodes", Users: 100_000, Spread: sequence.Zipf, Rules: chat, Nodes: 2, Goroutines: goroutines}
	refused   = load{Name: "mostly refused, 50 users, 4 nodes", Users: 50, Rules: chat, Nodes: 4, Goroutines: goroutines}
	hot1      = load{Name: "one key, always allowed, 1 node", Users: 1, Rules: large, Nodes: 1, Goroutines: goroutines}
	hot4      = load{Name: "one key, always allowed, 4 nodes", Users: 1, Rules: large, Nodes: 4, Goroutines: goroutines}
	latency   = load{Name: "one goroutine, 100,000 users", Users: 100_000, Rules: chat, Nodes: 1, Goroutines: 1}
	known1    = load{Name: "100,000 known users, one goroutine", Users: 100_000, Rules: chat, Nodes: 1, Goroutines: 1, Known: true}
	known64   = load{Name: "100,000 known users", Users: 100_000, Rules: chat, Nodes: 1, Goroutines: goroutines, Known: true}
	five      = load{Name: "five windows, 100,000 users, 2 nodes", Users: 100_000, Rules: fiveWindows, Nodes: 2, Goroutines: goroutines}
	fiveAlone = load{Name: "five windows, one goroutine", Users: 100_000, Rules: fiveWindows, Nodes: 1, Goroutines: 1}
	memory    = load{Name: "every user once, 100,000 users", Users: 100_000, Rules: chat, Nodes: 1, Goroutines: goroutines, Fill: true}
	remember  = load{Name: "mostly refused, one goroutine", Users: 50, Rules: chat, Nodes: 1, Goroutines: 1}
	asked     = load{Name: "HTTP, 3,000 users, 2 nodes", Users: 3_000, Rules: chat, Nodes: 2, Goroutines: goroutines}
	askedAll  = load{Name: "HTTP, always allowed, 3,000 users, 2 nodes", Users: 3_000, Rules: large, Nodes: 2, Goroutines: goroutines}
	exchanged = load{Name: "exchange of 100,000 rows", Users: 100_000, Rules: large, Nodes: 1, Goroutines: 1, Exchange: true}
)

// shrunk returns the load with few users, for -short.
func (l load) shrunk() load {
	l.Users = min(l.Users, 1000)
	return l
}

// drawn is the length of a node's sequence of users. The goroutines go through it again and again,
// each from another position.
const drawn = 1 << 17

// order returns the sequence of users of one node.
func (l load) order(node int) []int {
	if l.Spread == "" {
		l.Spread = sequence.Uniform
	}
	return sequence.Order(sequence.Rand(uint64(2+node)), drawn, l.Users, l.Spread)
}

// users returns the users' IDs.
func (l load) users() []string {
	ids := make([]string, 0, l.Users)
	for _, id := range sequence.Crowd(l.Users) {
		ids = append(ids, strconv.FormatUint(id, 10))
	}
	return ids
}

// verify returns an error if the limiter has allowed what it must refuse, or the other way round.
// Each of the copies of the limits may allow as many messages as one.
func (l load) verify(r *result, took time.Duration, copies int) error {
	switch {
	case r.Asked == 0:
		return fmt.Errorf("all of %d checks have failed: %s", r.Failed, r.Problem)
	case r.Offline > 0:
		return fmt.Errorf("%d messages were decided without the server", r.Offline)
	case l.Rules != chat && r.Refused > 0:
		return fmt.Errorf("%d messages were refused, and all must be allowed", r.Refused)
	case l.Rules != chat:
		return nil
	}
	bound := uint64(copies) * uint64(burst+took/refill)
	for i, user := range r.users {
		if user.allowed > bound {
			return fmt.Errorf("user %d had %d messages allowed in %v, and the bound is %d", i, user.allowed, took, bound)
		}
		if user.refused && user.allowed < burst {
			return fmt.Errorf("user %d had a message refused, and only %d allowed", i, user.allowed)
		}
	}
	return nil
}
