package redisstore

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/internal/waittest"
	"github.com/chatguard/chatguard/shared"
)

func TestNodes(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	describe := func(n *shared.Node) {
		n.Address, n.Mode, n.Formats, n.MessagesPerSecond = "http://a", "exact", []int{9}, 7
		n.Name, n.Number, n.PolicyHash = "forged", 999, "forged"
	}
	a := open(t, r.URL(), Options{Node: "a", Version: "v9", Describe: describe})
	b := open(t, r.URL(), Options{Node: "b.c"})
	counts := shared.Counts{Swaps: 3, Offline: 2, Healed: 1, Problem: "a row"}
	stop := run(t, a, &fakeGuard{counts: counts})
	run(t, b, &fakeGuard{})
	eventually(t, "both are listed with numbers", func() bool {
		nodes, err := a.Nodes(t.Context())
		return err == nil && len(nodes) == 2 && nodes[0].Number >= 0 && nodes[1].Number >= 0
	})
	nodes, _ := a.Nodes(t.Context())
	n := nodes[0]
	if n.Name != "a" || !n.Self || nodes[1].Name != "b.c" || nodes[1].Self || nodes[1].Number == n.Number {
		t.Errorf("%+v", nodes)
	}
	if n.Version != "v9" || n.Address != "http://a" || n.Mode != "exact" || !slices.Equal(n.Formats, limits.RowFormats()) || n.PolicyHash != "" || n.MessagesPerSecond != 7 || n.Counts != counts || n.Error <= 0 || n.Number > 255 {
		t.Errorf("%+v", n)
	}
	eventually(t, "Health counts the nodes", func() bool { return a.Health().Nodes == 2 })
	stop()
	eventually(t, "the other notices the end", func() bool { return b.Health().Nodes == 1 })
	if nodes, err := b.Nodes(t.Context()); err != nil || len(nodes) != 1 {
		t.Errorf("%+v, %v", nodes, err)
	}
}

// TestClock_Apart checks that nodes use the largest error that any of them reports.
func TestClock_Apart(t *testing.T) {
	t.Parallel()
	r, s := startStore(t, Options{})
	run(t, s, &fakeGuard{})
	record, _ := json.Marshal(shared.Node{Name: "far", Instance: "far", Error: 123 * time.Millisecond})
	r.must("SET", "cg1:node:far", string(record))
	r.must("SADD", "cg1:nodes", "far")
	eventually(t, "the other's error counts", func() bool { return s.Health().Skew == 246*time.Millisecond })
}

// TestNodes_Policies checks that nodes with different policies say so, until they have the same.
func TestNodes_Policies(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	a, b, c := open(t, r.URL(), Options{Node: "a"}), open(t, r.URL(), Options{Node: "b"}), open(t, r.URL(), Options{Node: "c"})
	guards := []*fakeGuard{{policy: "1"}, {policy: "2"}, {policy: "1"}}
	for i, s := range []*Store{a, b, c} {
		run(t, s, guards[i])
	}
	eventually(t, "all nodes know that policies differ", func() bool {
		return strings.Contains(a.Health().Problem, "node b has another policy than this node") &&
			strings.Contains(b.Health().Problem, "node a has another policy") && strings.Contains(c.Health().Problem, "node b has another policy")
	})
	wantFinding(t, c, "node a", OK, "")
	wantFinding(t, c, "node b", Warning, "another policy than node a's")
	if nodes, err := c.Nodes(t.Context()); err != nil || len(nodes) != 3 || nodes[1].PolicyHash != "2" {
		t.Errorf("%+v, %v", nodes, err)
	}
	guards[1].setPolicy("1")
	eventually(t, "the policies are the same", func() bool {
		return a.Health().Problem == "" && b.Health().Problem == "" && c.Health().Problem == ""
	})
}

// wantHealed fails the test unless all rows were invalidated and healed that often.
func (g *fakeGuard) wantHealed(t *testing.T, times int) {
	t.Helper()
	if invalidated, healed := g.count(allRows), g.healed.Load(); invalidated != times || healed != int64(times) {
		t.Errorf("all rows are invalidated %d times and healed %d times, want %d", invalidated, healed, times)
	}
}

// TestRegistry_Restart checks that a node notices a server that has restarted, and that a refused
// INFO isn't taken for a restart and doesn't hide one.
func TestRegistry_Restart(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	var log waittest.Output
	guard := &fakeGuard{}
	s := open(t, r.URL(), Options{Logger: logTo(&log)})
	epoch := s.server.known.Load().epoch
	restarts := 0
	// after checks what is noticed when the node has examined the server over a new connection.
	after := func(what string, restarted bool) {
		t.Helper()
		before := s.server.known.Load()
		eventually(t, what+": the node examines the server", func() bool {
			return s.registry.heartbeat(t.Context(), guard) == nil && s.server.known.Load() != before
		})
		if restarted {
			restarts++
		}
		warnings := strings.Count(log.String(), "this node gives back the rows that it remembers")
		if warnings != restarts {
			t.Errorf("%s: %d warnings, want %d", what, warnings, restarts)
		}
		guard.wantHealed(t, restarts)
	}
	cut := func() { r.must("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes") }
	restart := func(rights string) {
		r.Kill()
		r.Start()
		r.must("ACL", "SETUSER", "default", rights)
		r.must("SET", "cg1:format", "1") // as if the data was kept
		r.must("SET", "cg1:epoch", epoch)
	}
	cut()
	after("the connection is cut", false)
	r.must("ACL", "SETUSER", "default", "-info")
	cut()
	after("INFO is refused", false)
	r.must("ACL", "SETUSER", "default", "+info")
	cut()
	after("INFO is permitted again", false)
	restart("+info")
	after("the server has restarted", true)
	restart("-info")
	after("the server has restarted, and INFO is refused", false)
	r.must("ACL", "SETUSER", "default", "+info")
	cut()
	after("the restart shows at last", true)
	r.must("ACL", "SETUSER", "default", "-info")
	r.must("DEL", "cg1:epoch")
	after("the data was lost, and INFO is refused", true)
	r.must("ACL", "SETUSER", "default", "+info")
	cut()
	after("the new data's server has a run ID", false)
}

// TestRegistry_Subscribe checks that a node subscribes again if another server may have the epoch:
// the connection for notices and the clock may go to the former one.
func TestRegistry_Subscribe(t *testing.T) {
	t.Parallel()
	_, s := startStore(t, Options{})
	guard := &fakeGuard{}
	run(t, s, guard)
	eventually(t, "the node subscribes", func() bool { return guard.count(allRows) > 0 && s.Health().Nodes == 1 })
	before := guard.count(allRows)
	s.server.compared.Store(&serverInfo{epoch: "another"})
	eventually(t, "the node subscribes again", func() bool { return guard.count(allRows) >= before+2 })
}

// TestRegistry_RestartLateInfo checks that a node checks for a restart again, over the same
// connection, if INFO wasn't answered.
func TestRegistry_RestartLateInfo(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	var loading atomic.Pointer[context.CancelFunc] // called at INFO, which then has no answer
	address := proxy(t, r.Addr(), func(args []string) ([]string, string) {
		if end := loading.Load(); end != nil && args[0] == "INFO" {
			(*end)()
			return nil, "-LOADING the dataset\r\n"
		}
		return args, ""
	})
	s := open(t, "redis://"+address, Options{Timeout: patience})
	guard := &fakeGuard{}
	before := s.server.known.Load()
	r.Kill()
	r.Start()
	r.must("SET", "cg1:format", "1") // as if the data was kept
	r.must("SET", "cg1:epoch", before.epoch)
	awaitServer(t, s) // over a new connection
	ctx, cancel := context.WithCancel(t.Context())
	loading.Store(&cancel)
	eventually(t, "the node examines the server, without INFO", func() bool {
		s.registry.heartbeat(ctx, guard)
		return s.server.known.Load() != before
	})
	if healed := guard.healed.Load(); healed != 0 {
		t.Errorf("healed %d times, although the restart isn't known", healed)
	}
	loading.Store(nil)
	made := s.server.conns.made.Load()
	if err := s.registry.heartbeat(t.Context(), guard); err != nil || s.server.conns.made.Load() != made {
		t.Errorf("%v, %d connections, want %d", err, s.server.conns.made.Load(), made)
	}
	guard.wantHealed(t, 1)
	examined := s.server.known.Load()
	if err := s.registry.heartbeat(t.Context(), guard); err != nil || s.server.known.Load() != examined {
		t.Errorf("%v, or the node examines the server again although nothing is new", err)
	}
}

// TestRegistry_RestartWhileAway checks that a restart is noticed that the store was away for.
func TestRegistry_RestartWhileAway(t *testing.T) {
	t.Parallel()
	r, s := startStore(t, Options{})
	guard := &fakeGuard{}
	r.Kill()
	s.server.goAway(errServerGone)
	r.Start()
	eventually(t, "the store is back", func() bool { s.server.probe(); return s.Health().Up })
	must(t, s.registry.heartbeat(t.Context(), guard))
	guard.wantHealed(t, 1)
}

func TestRegistry_ComparePolicies(t *testing.T) {
	var r registry
	nodes := []shared.Node{{Name: "me", PolicyHash: "1", Self: true}, {Name: "old"}, {Name: "other", PolicyHash: "2"}}
	for i := 1; i < maxDisagreed; i++ {
		if r.comparePolicies(nodes, "1"); r.otherPolicy.Load() != nil {
			t.Fatalf("a difference is reported after %d heartbeats", i)
		}
	}
	if r.comparePolicies(nodes, "1"); r.otherPolicy.Load() == nil || *r.otherPolicy.Load() != "other" {
		t.Error("a lasting difference isn't reported")
	}
	if r.comparePolicies(nodes[:2], "1"); r.otherPolicy.Load() != nil || r.disagreed != 0 {
		t.Error("the difference is still reported")
	}
}
