package redisstore

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard/shared"
)

// leads runs the Leaderships of a node's tasks.
type leads struct {
	leaderships []*Leadership
	stop        func()
}

// patientLease has no duration that could be over before a test has seen what it waits for.
var patientLease = leaseTimes{expires: time.Hour, held: time.Hour, poll: 20 * time.Millisecond, attempt: time.Hour, alone: time.Hour, yield: time.Hour}

func runLeads(t *testing.T, s *Store, times leaseTimes, tasks ...string) *leads {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	n := &leads{}
	for _, task := range tasks {
		l := s.Lead(task)
		l.times = times
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
		if isLeading(l) {
			held++
		}
	}
	return held
}

// TestLead_Part checks that two nodes share the tasks, that a node without tasks doesn't count, and
// that a node takes more than its part if nobody else does. The nodes are stopped at the moment
// when they know of each other's tasks, so that the numbers don't change any more.
func TestLead_Part(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	tasks := []string{"1", "2", "3", "4"}
	var keys []string
	for _, task := range tasks {
		keys = append(keys, "cg1:lead:"+task)
		r.must("SET", "cg1:lead:"+task, "somebody X 1")
	}
	a, b, idle := open(t, r.URL(), Options{Node: "a"}), open(t, r.URL(), Options{Node: "b"}), open(t, r.URL(), Options{Node: "idle"})
	la, lb := runLeads(t, a, patientLease, tasks...), runLeads(t, b, patientLease, tasks...)
	stops := []func(){run(t, a, &fakeGuard{}), run(t, b, &fakeGuard{}), run(t, idle, &fakeGuard{})}
	for _, s := range []*Store{a, b} {
		eventually(t, "the nodes know of each other's tasks", func() bool {
			return s.Health().Nodes == 3 && s.leases.candidates.Load() == 2 && int(s.leases.tasks.Load()) == len(tasks)
		})
	}
	for _, stop := range stops {
		stop()
	}
	r.must(append([]string{"DEL"}, keys...)...)
	for _, task := range tasks {
		r.must("SET", "cg1:led:"+task, formatLed(1, 0)) // released
	}
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
	la.stop()
	lb.stop()
	if n := a.leases.tasks.Load() + b.leases.tasks.Load(); n != 0 {
		t.Errorf("%d tasks run after all have stopped", n)
	}
	impatient := patientLease
	impatient.yield = 300 * time.Millisecond
	began := time.Now()
	lb = runLeads(t, b, impatient, tasks...)
	eventually(t, "b leads all", func() bool { return lb.held() == 4 })
	if took := time.Since(began); took < impatient.yield {
		t.Errorf("b takes more than its part after %v", took)
	}
}

// TestLead_Meet checks that a node that isn't alone gives the others time to notice it.
func TestLead_Meet(t *testing.T) {
	t.Parallel()
	_, s := startStore(t, Options{})
	s.leases.nodes.Store(2)
	times := patientLease
	times.meet = 300 * time.Millisecond
	began := time.Now()
	n := runLeads(t, s, times, "x")
	eventually(t, "the node leads", func() bool { return n.held() == 1 })
	if took := time.Since(began); took < times.meet {
		t.Errorf("the node leads after %v, want %v or more", took, times.meet)
	}
}

// A node's part counts only what it has: a lost lease makes room.
func TestLeases_Reserve(t *testing.T) {
	leases := &leases{}
	reserve := func(want bool) {
		t.Helper()
		if got := leases.reserve(false); got != want {
			t.Errorf("reserve is %v with %d of %d tasks, %d nodes", got, leases.held, leases.tasks.Load(), leases.candidates.Load())
		}
	}
	reserve(true) // step without Run
	leases.free()
	leases.tasks.Add(3)
	leases.see([]shared.Node{{Name: "self", Self: true}, {Name: "b", Tasks: 5}, {Name: "idle"}})
	reserve(true)
	reserve(true) // 3 ÷ 2, rounded up
	reserve(false)
	leases.free()
	reserve(true)
	if !leases.reserve(true) {
		t.Error("no more than its part, although nobody else takes it")
	}
	leases.see([]shared.Node{{Name: "self", Self: true, Tasks: 9}})
	reserve(true) // alone
}
