package sharing_test

import (
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/shared"
)

// After a store has lost rows, all messages count: those that only one node remembers, and those
// that another node has allowed meanwhile.
func TestShared_LostAndAllowedMeanwhile(t *testing.T) {
	type step func(s *lossScene)
	a, b := func(n int) step { return func(s *lossScene) { send(s.t, s.guards[0], n) } }, func(n int) step { return func(s *lossScene) { send(s.t, s.guards[1], n) } }
	for _, c := range []struct {
		name                  string
		before, saved, outage []step
		want                  int
	}{
		{"the store is empty, and the other node knows nothing", []step{a(8)}, nil, []step{b(1)}, 9},
		{"the store is empty, and the other node knows less", []step{b(1), a(1)}, nil, []step{b(1)}, 3},
		{"the store is empty, and both allow more", []step{b(1), a(1)}, nil, []step{b(1), a(2)}, 5},
		{"the store has an older state, and the other node knows nothing", []step{a(1)}, []step{a(1)}, []step{b(1)}, 3},
		{"the store has an older state, and the other node knows it", []step{a(1), b(1)}, []step{a(2)}, []step{b(1)}, 5},
		{"the store has an older state, and the other node knows more", []step{a(1)}, []step{a(2), b(1)}, []step{a(1)}, 5},
	} {
		for _, mode := range []shared.Mode{shared.Exact, shared.Synchronised} {
			for _, order := range [][]int{{0, 1}, {1, 0}} {
				s := newLossScene(t, mode)
				do := func(steps []step) {
					for _, step := range steps {
						step(s)
						s.exchange(0, 1)
					}
				}
				do(c.before)
				state := s.server.save()
				do(c.saved)
				s.setAway(true)
				for _, step := range c.outage {
					step(s)
				}
				if s.server.lose(); c.saved != nil {
					s.server.restore(state)
				}
				s.setAway(false)
				for _, guard := range s.guards { // as redisstore does
					guard.Shared().InvalidateAll()
					guard.Shared().Heal()
				}
				for range 4 {
					s.exchange(order...)
					s.now = s.now.Add(500 * time.Millisecond)
				}
				s.exchange(order...)
				_, other := s.server.connect(dayOnly(), func() time.Time { return s.now })
				if got := used(t, other) - 1; got != c.want {
					t.Errorf("%s, %s, exchanges %v: %d messages count, want %d", c.name, mode, order, got, c.want)
				}
			}
		}
	}
}

// lossScene are two nodes.
type lossScene struct {
	t      *testing.T
	server *fakeServer
	nodes  []*fakeShared
	guards []*chatguard.Guard
	now    time.Time
}

func newLossScene(t *testing.T, mode shared.Mode) *lossScene {
	s := &lossScene{t: t, server: newFakeServer(), now: sharedStart}
	for i := range 2 {
		node := &fakeShared{server: s.server, number: uint8(i), clock: func() time.Time { return s.now }, timeout: time.Minute}
		s.nodes, s.guards = append(s.nodes, node), append(s.guards, mustNew(t, dayOnly(), &chatguard.Options{Shared: node, SharedMode: mode}))
	}
	s.server.guards = s.guards
	return s
}

func (s *lossScene) setAway(away bool) {
	for _, node := range s.nodes {
		node.setAway(away)
	}
}

func (s *lossScene) exchange(nodes ...int) {
	s.t.Helper()
	for _, i := range nodes {
		must(s.t, s.guards[i].Shared().Exchange(s.t.Context()))
	}
}

// A node that hasn't noticed yet that the store is in an older state goes on from there. The node
// that knows more brings back at least that.
func TestShared_LostAndWrittenSince(t *testing.T) {
	for since := 1; since <= 5; since++ {
		s := newLossScene(t, shared.Exact)
		send(t, s.guards[0], 1)
		state := s.server.save()
		send(t, s.guards[0], 2)
		s.server.lose()
		s.server.restore(state)
		send(t, s.guards[1], since) // these may have the numbers of the lost writes
		check(t, s.guards[0], "7")
		s.now = s.now.Add(2 * time.Second)
		s.exchange(0)
		if got := used(t, s.guards[1]); got < 5 || got > 5+since {
			t.Errorf("%d messages since: %d count, want at least 5", since, got)
		}
	}
}
