package sharing_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/shared"
)

// fakeServer is a Store in memory, with faults, that the nodes of a test share.
type fakeServer struct {
	t      testing.TB
	policy chatguard.Policy  // of the nodes that join
	opts   chatguard.Options // of the nodes that join
	now    time.Time         // by all nodes' clocks; zero means that of the test's bubble
	nodes  []*node
	silent bool // it sends no notices

	mu     sync.Mutex
	rows   map[[2]string][]byte
	own    map[string]map[string]bool
	swaps  int // that were tried
	writes int // that were done
}

// newServer returns a server without nodes. Their clocks show sharedStart, or what the test sets.
func newServer(t testing.TB, mode shared.Mode, policy chatguard.Policy) *fakeServer {
	opts := chatguard.Options{SharedMode: mode, TextKey: testKey}
	return &fakeServer{t: t, policy: policy, opts: opts, now: sharedStart, rows: map[[2]string][]byte{}, own: map[string]map[string]bool{}}
}

// newServerInBubble is newServer for nodes whose clocks show the time of a synctest bubble.
func newServerInBubble(t testing.TB, mode shared.Mode, policy chatguard.Policy) *fakeServer {
	f := newServer(t, mode, policy)
	f.now = time.Time{}
	return f
}

// testKey is the Options.TextKey of nodes.
var testKey = [16]byte{1}

func (f *fakeServer) clock() time.Time {
	if f.now.IsZero() {
		return time.Now()
	}
	return f.now
}

// node is a Guard that shares a server, and its connection.
type node struct {
	*fakeShared
	*chatguard.Guard
}

// join returns another node.
func (f *fakeServer) join() *node {
	f.t.Helper()
	conn := &fakeShared{server: f, number: uint8(len(f.nodes)), clock: f.clock, timeout: time.Minute, inProgress: map[[2]string]int{}}
	opts := f.opts
	opts.Shared = conn
	n := &node{conn, mustNew(f.t, f.policy, &opts)}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.nodes = append(f.nodes, n)
	return n
}

// exchange lets all nodes exchange.
func (f *fakeServer) exchange() {
	f.t.Helper()
	for _, n := range f.nodes {
		n.exchange()
	}
}

// exchange must succeed.
func (n *node) exchange() {
	n.server.t.Helper()
	if err := n.Shared().Exchange(n.server.t.Context()); err != nil {
		n.server.t.Errorf("Exchange: %v", err)
	}
}

func (n *node) counts() shared.Counts { return n.Shared().Counts() }

// fakeShared is one node's connection to a fakeServer.
type fakeShared struct {
	server *fakeServer
	number uint8
	clock  func() time.Time
	skew   time.Duration

	mu         sync.Mutex
	away       bool
	timeout    time.Duration
	inProgress map[[2]string]int // swaps, by their rows
	most       int               // swaps of one row at the same time
	delay      time.Duration     // of each swap
	// before is called before a swap reaches the server. It may wait. If it returns an error, the
	// swap never reaches the server, which the Guard only knows if it is ErrAway.
	before func(ctx context.Context) error
	// after is called after a swap has reached the server. If it returns an error, the reply is
	// lost.
	after func() error
}

// seeded returns a function like rand.IntN that returns the same numbers for the same seed. It is
// safe for concurrent use.
func seeded(seed, stream uint64) func(n int) int {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, stream))
	return func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return random.IntN(n)
	}
}

func (n *fakeShared) Timeout() time.Duration            { return n.timeout }
func (n *fakeShared) Number() (int, bool)               { return int(n.number), true }
func (n *fakeShared) Clock() (time.Time, time.Duration) { return n.clock(), n.skew }

func (n *fakeShared) setAway(away bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.away = away
}

// awayError returns the error of a call while the server is away, or nil.
func (n *fakeShared) awayError() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.away {
		return fmt.Errorf("%w (test)", shared.ErrAway)
	}
	return nil
}

func (n *fakeShared) Overrides(ctx context.Context, channelID string) ([]string, error) {
	err := n.awayError()
	if err == nil && n.before != nil {
		err = n.before(ctx)
	}
	if err != nil {
		return nil, err
	}
	n.server.mu.Lock()
	defer n.server.mu.Unlock()
	return slices.Collect(maps.Keys(n.server.own[channelID])), nil
}

var errReplyLost = errors.New("the reply was lost")

// errOvertaken means that the reply was lost, and that a later attempt finds another row.
var errOvertaken = errors.New("the reply was lost, and the row has changed")

// count counts swaps that begin, or with -1 those that end.
func (n *fakeShared) count(swaps []*shared.Swap, change int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, s := range swaps {
		for _, r := range s.Rows {
			key := [2]string{r.ChannelID, r.UserID}
			n.inProgress[key] += change
			n.most = max(n.most, n.inProgress[key])
		}
	}
}

func (n *fakeShared) Swap(ctx context.Context, swaps []*shared.Swap) {
	n.count(swaps, 1)
	defer n.count(swaps, -1)
	time.Sleep(n.delay)
	err := n.awayError()
	if err == nil && n.before != nil {
		err = n.before(ctx)
	}
	for _, s := range swaps {
		if s.Done, s.Err, s.Unknown = false, err, err != nil && !errors.Is(err, shared.ErrAway); err != nil {
			continue
		}
		n.server.swap(s, n)
		if n.after != nil {
			if lost := n.after(); lost != nil {
				s.Done, s.Err, s.Unknown = false, lost, true
				if lost == errOvertaken {
					n.server.overtake(s)
				}
			}
		}
	}
}

// swap does one swap.
func (f *fakeServer) swap(s *shared.Swap, from *fakeShared) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.swaps++
	for i := range s.Rows {
		s.Rows[i].Now = f.rows[[2]string{s.Rows[i].ChannelID, s.Rows[i].UserID}]
	}
	for _, r := range s.Rows {
		if !bytes.Equal(r.Was, r.Now) {
			return
		}
	}
	s.Done = true
	f.writes++
	for _, r := range s.Rows {
		if r.Is != nil {
			f.rows[[2]string{r.ChannelID, r.UserID}] = r.Is
		}
		if r.HasOverride {
			if f.own[r.ChannelID] == nil {
				f.own[r.ChannelID] = map[string]bool{}
			}
			f.own[r.ChannelID][r.UserID] = true
		}
		for _, n := range f.nodes {
			if s.Notify && !f.silent && n.fakeShared != from {
				n.Shared().Invalidate(r.ChannelID, r.UserID)
			}
		}
	}
}

// overtake repeats a swap whose reply was lost.
func (f *fakeServer) overtake(s *shared.Swap) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s.Done, s.Err = true, nil
	for i := range s.Rows {
		r := &s.Rows[i]
		r.Now = f.rows[[2]string{r.ChannelID, r.UserID}]
		s.Done = s.Done && bytes.Equal(r.Now, r.Is)
	}
	s.Unknown = !s.Done
}

// lose makes the server lose all rows.
func (f *fakeServer) lose() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.rows)
}

// save returns a copy of all rows, and restore puts one back.
func (f *fakeServer) save() map[[2]string][]byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.rows)
}

func (f *fakeServer) restore(rows map[[2]string][]byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rows = maps.Clone(rows)
}
