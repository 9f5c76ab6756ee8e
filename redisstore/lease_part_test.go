package redisstore

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"
)

// leads runs the Leaderships of a node's tasks.
type leads struct {
	leaderships []*Leadership
	stop        func()
}

func runLeads(t *testing.T, s *Store, tasks ...string) *leads {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	n := &leads{}
	for _, task := range tasks {
		l := s.Lead(task)
		l.times = leaseTimes{
			expires: 1500 * time.Millisecond, held: time.Second, renew: 300 * time.Millisecond, look: 20 * time.Millisecond,
			yield: 500 * time.Millisecond, meet: usualLease.meet,
		}
		n.leaderships = append(n.leaderships, l)
		running.Go(func() {
			if err := l.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	n.stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
	})
	t.Cleanup(n.stop)
	return n
}

// held returns how many tasks the node leads.
func (n *leads) held() (held int) {
	for _, l := range n.leaderships {
		if _, _, ok := l.Leading(); ok {
			held++
		}
	}
	return held
}

// Two nodes share the tasks. A node without tasks doesn't count.
func TestLead_Part(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	a, b, idle := open(t, r.URL(), Options{Node: "a"}), open(t, r.URL(), Options{Node: "b"}), open(t, r.URL(), Options{Node: "idle"})
	for _, s := range []*Store{a, b, idle} {
		run(t, s, &fakeGuard{})
		eventually(t, "all nodes are listed", func() bool { return s.Health().Nodes > 0 })
	}
	for _, s := range []*Store{a, b} {
		eventually(t, "the nodes know of each other", func() bool { return s.Health().Nodes == 3 })
	}
	tasks := []string{"1", "2", "3", "4"}
	la, lb := runLeads(t, a, tasks...), runLeads(t, b, tasks...)
	eventually(t, "all tasks have a leader", func() bool { return la.held()+lb.held() == 4 })
	if la.held() != 2 || lb.held() != 2 {
		t.Errorf("a leads %d tasks and b leads %d", la.held(), lb.held())
	}
	eventually(t, "both know who leads", func() bool {
		var leaders [2]string
		for i, n := range []*leads{la, lb} {
			for _, l := range n.leaderships {
				leaders[i] += l.Leader()
			}
		}
		return len(leaders[0]) == 4 && leaders[0] == leaders[1]
	})
	// a stays listed with another task, so b has its part already. It takes more nevertheless.
	runLeads(t, a, "elsewhere")
	la.stop()
	eventually(t, "b leads all", func() bool { return lb.held() == 4 })
}

// A node's part counts only what it has: a lost lease makes room.
func TestLeases_Reserve(t *testing.T) {
	leases := &leases{}
	reserve := func(want bool) {
		t.Helper()
		if got := leases.reserve(false); got != want {
			t.Errorf("reserve is %v with %d of %d tasks, %d nodes", got, leases.held, leases.running, leases.candidates.Load())
		}
	}
	reserve(true) // step without Run
	leases.free()
	leases.run(3)
	leases.see([]Node{{Name: "self", Self: true}, {Name: "b", Tasks: 5}, {Name: "idle"}})
	reserve(true)
	reserve(true) // 3 ÷ 2, rounded up
	reserve(false)
	leases.free()
	reserve(true)
	if !leases.reserve(true) {
		t.Error("no more than its part, although nobody else takes it")
	}
	leases.see([]Node{{Name: "self", Self: true, Tasks: 9}})
	reserve(true) // alone
	if leases.run(-3); leases.tasks() != 0 {
		t.Error(fmt.Sprint(leases.tasks(), " tasks"))
	}
}
