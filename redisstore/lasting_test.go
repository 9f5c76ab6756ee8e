package redisstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/waittest"
	"github.com/chatguard/chatguard/shared"
)

// TestHealth_Evicts checks that a node says so while the server may delete rows.
func TestHealth_Evicts(t *testing.T) {
	t.Parallel()
	const want = "maxmemory-policy is allkeys-lru: set maxmemory-policy to noeviction or volatile-ttl"
	r := startRedis(t, "--maxmemory-policy", "allkeys-lru")
	s := open(t, r.URL(), Options{})
	if p := s.Health().Problem; p != "" {
		t.Errorf("without maxmemory nothing is evicted: %s", p)
	}
	r.must("CONFIG", "SET", "maxmemory", "100mb")
	var log waittest.Output
	s = open(t, r.URL(), Options{Logger: logTo(&log)})
	if h := s.Health(); !h.Up || h.Refusing || !strings.Contains(h.Problem, want) {
		t.Errorf("%+v", h)
	}
	if f := found(t, s, "eviction"); !strings.HasPrefix(s.Health().Problem, f.Text+": "+f.Fix) {
		t.Errorf("Diagnose has other words: %+v", f)
	}
	r.must("ACL", "SETUSER", "default", "-info")
	if s.server.checkEviction(t.Context()); !strings.Contains(s.Health().Problem, want) {
		t.Errorf("a refused INFO hides the problem: %+v", s.Health())
	}
	r.must("ACL", "SETUSER", "default", "+info")
	run(t, s, &fakeGuard{})
	eventually(t, "it is logged", func() bool { return strings.Contains(log.String(), want) })
	r.must("CONFIG", "SET", "maxmemory-policy", "volatile-ttl")
	eventually(t, "the problem is over", func() bool { return s.Health().Problem == "" })
	wantLogged(t, &log, want)
}

// wantLogged fails the test unless a problem is logged once, and so is its end.
func wantLogged(t *testing.T, log *waittest.Output, problem string) {
	t.Helper()
	var levels []string
	eventually(t, "the end is logged", func() bool {
		levels = nil
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, problem) && !strings.Contains(line, "level=DEBUG") {
				_, level, _ := strings.Cut(line, "level=")
				level, _, _ = strings.Cut(level, " ")
				levels = append(levels, level)
			}
		}
		return slices.Contains(levels, "INFO")
	})
	if !slices.Equal(levels, []string{"WARN", "INFO"}) {
		t.Errorf("%q is logged as %q", problem, levels)
	}
}

// TestHealth_EvictsLater checks that heartbeats notice a policy that is changed while the node
// runs, and that one heartbeat notices its end. A node without the right to INFO doesn't ask for it
// again.
func TestHealth_EvictsLater(t *testing.T) {
	t.Parallel()
	r, s := startStore(t, Options{})
	beat := func() { must(t, s.registry.heartbeat(t.Context(), &fakeGuard{})) }
	beat() // there are new connections, so it examines the server
	r.must("CONFIG", "SET", "maxmemory", "100mb", "maxmemory-policy", "allkeys-lru")
	for range evictionBeats {
		beat()
	}
	if p := s.Health().Problem; !strings.Contains(p, "maxmemory-policy is allkeys-lru: set") {
		t.Errorf("after %d heartbeats: %q", evictionBeats, p)
	}
	r.must("CONFIG", "SET", "maxmemory-policy", "noeviction")
	if beat(); s.Health().Problem != "" {
		t.Error(s.Health().Problem)
	}
	r.must("ACL", "SETUSER", "default", "-info")
	s = open(t, r.URL(), Options{})
	beat()
	r.must("ACL", "LOG", "RESET")
	for range evictionBeats {
		beat()
	}
	if denied, err := r.must("ACL", "LOG").ToArray(); err != nil || len(denied) != 0 {
		t.Errorf("%d entries in the log of what the server has denied, %v", len(denied), err)
	}
}

// TestNodes_SameName checks that nodes with one name are all listed and counted, and say so.
func TestNodes_SameName(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	const want = "another node is named chat-1 too: set another Options.Node"
	var logs [2]waittest.Output
	var stores [2]*Store
	var stop func()
	for i := range stores {
		stores[i] = open(t, r.URL(), Options{Node: "chat-1", Logger: logTo(&logs[i])})
		stop = run(t, stores[i], &fakeGuard{})
	}
	eventually(t, "both are counted", func() bool {
		return stores[0].Health().Nodes == 2 && stores[1].Health().Nodes == 2
	})
	if nodes, err := stores[0].Nodes(t.Context()); err != nil || len(nodes) != 2 || nodes[0].Self == nodes[1].Self {
		t.Errorf("%+v, %v", nodes, err)
	}
	if f := wantFinding(t, stores[0], "node chat-1", Warning, "another node has the same name"); f.Fix != "set another Options.Node" {
		t.Errorf("%+v", f)
	}
	for i, s := range stores {
		eventually(t, "the problem is known and logged", func() bool {
			return strings.Contains(s.Health().Problem, want) && strings.Contains(logs[i].String(), want)
		})
	}
	stop()
	eventually(t, "the problem is over", func() bool { return stores[0].Health().Problem == "" && stores[0].Health().Nodes == 1 })
	wantLogged(t, &logs[0], want)
}

// TestRegistry_FindNamesake checks that a predecessor that has crashed isn't taken for a namesake.
func TestRegistry_FindNamesake(t *testing.T) {
	s := open(t, "redis://127.0.0.1:1", Options{Node: "a"})
	nodes := []shared.Node{{Name: "a", Self: true, Instance: s.server.instance}, {Name: "a", Instance: "1"}, {Name: "b", Instance: "2"}}
	s.registry.findNamesake(nodes)
	if s.registry.namesake.Load() {
		t.Error("another instance is a namesake at once")
	}
	s.registry.namesakes["1"] -= int64(nodeExpires + heartbeatEvery)
	if s.registry.findNamesake(nodes); !s.registry.namesake.Load() {
		t.Error("an instance that stays isn't a namesake")
	}
	if s.registry.findNamesake(nodes[:1]); s.registry.namesake.Load() || len(s.registry.namesakes) != 0 {
		t.Error("an instance that has ended is a namesake")
	}
}

// TestReplicas_NextRun checks that what an earlier Run has found doesn't count: swaps wait for the
// replicas until they have been missing for three heartbeats.
func TestReplicas_NextRun(t *testing.T) {
	s := &Store{server: &server{}, writer: &writer{replicas: replicas{misses: lastingMisses - 1}}}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	s.register(ended, nil)
	if n := s.writer.replicas.misses; n != 0 {
		t.Errorf("%d heartbeats of an earlier Run count", n)
	}
}

// TestReplicas_Missing checks that a node without enough replicas says so, is listed, and that
// swaps then don't wait for replicas.
func TestReplicas_Missing(t *testing.T) {
	t.Parallel()
	r := startRedis(t, "--repl-diskless-sync-delay", "0")
	var log waittest.Output
	s := open(t, r.URL(), Options{Replicas: 1, Logger: logTo(&log)})
	wantFinding(t, s, "replicas", Warning, "0 of 1 replicas confirm swaps")
	if f := found(t, s, "latency"); f.Level == Problem {
		t.Errorf("%+v", f)
	}
	run(t, s, &fakeGuard{})
	const want = "0 of 1 replicas confirm swaps: connect replicas, or lower Options.Replicas"
	eventually(t, "the node is listed, and names the problem", func() bool {
		h := s.Health()
		_, numbered := s.Number()
		return h.Nodes == 1 && numbered && h.Problem == want && strings.Contains(log.String(), want)
	})
	eventually(t, "swaps don't wait for replicas", func() bool { return !s.writer.replicas.awaited() })
	if text := log.String(); strings.Contains(text, "can't be listed") || strings.Contains(text, "no answer") {
		t.Error(text)
	}
	startRedis(t, "--repl-diskless-sync-delay", "0", "--replicaof", "127.0.0.1 "+fmt.Sprint(r.Port))
	eventually(t, "the replica confirms", func() bool { return s.Health().Problem == "" && s.writer.replicas.awaited() })
	check(t, s, one("a", "", "1"), true)
	wantFinding(t, s, "replicas", OK, "")
}

// TestReplicas_NoRight checks that a missing right to WAIT is named, by a swap and by a heartbeat,
// until it is granted.
func TestReplicas_NoRight(t *testing.T) {
	t.Parallel()
	first, _ := startPair(t)
	first.must("ACL", "SETUSER", "default", "-wait")
	s := open(t, first.URL(), Options{Replicas: 1})
	want := first.Addr() + `: the user "default" lacks the right +wait, which Options.Replicas needs: grant it, or set Options.Replicas to 0`
	check(t, s, one("a", "", "1"), true)
	if p := s.Health().Problem; p != want {
		t.Errorf("%s, want %s", p, want)
	}
	s.writer.replicas.few.Store(nil)
	s.writer.replicas.check(t.Context())
	if p := s.Health().Problem; p != want || s.writer.replicas.awaited() {
		t.Errorf("%s, want %s; swaps wait: %t", p, want, s.writer.replicas.awaited())
	}
	wantFinding(t, s, "rights", Problem, "+wait")
	first.must("ACL", "SETUSER", "default", "+wait")
	eventually(t, "the replica confirms", func() bool { s.writer.replicas.check(t.Context()); return s.Health().Problem == "" })
}

// TestHealth_OtherType checks that a key of another type is named, also if a swap has several keys
// and after other swaps, until a heartbeat finds that it was deleted. Other swaps aren't refused.
func TestHealth_OtherType(t *testing.T) {
	t.Parallel()
	r, s := startStore(t, Options{})
	swap := &shared.Swap{Rows: []shared.Row{row("lobby", "a", "", "1"), row("lobby", "b", "", "1"), row("lobby", "c", "", "1")}}
	swap.Rows[0].HasOverride = true
	for _, key := range []string{"cg1:{u:a}:c:lobby", "cg1:{u:c}:c:lobby", "cg1:own:lobby"} {
		want := "127.0.0.1:" + fmt.Sprint(r.Port) + ": " + otherType(key).text
		r.must("HSET", key, "a", "b")
		if err := attempt(t, s, swap).Err; err == nil || err.Error() != "redisstore: "+want {
			t.Errorf("%v, want %s", err, want)
		}
		check(t, s, one("d", "", "1"), true)
		check(t, s, one("d", "1", ""), true)
		must(t, s.registry.heartbeat(t.Context(), &fakeGuard{}))
		if h := s.Health(); h.Problem != want || h.Refusing {
			t.Errorf("%+v, want %s", h, want)
		}
		r.must("DEL", key)
		must(t, s.registry.heartbeat(t.Context(), &fakeGuard{}))
		if p := s.Health().Problem; p != "" {
			t.Errorf("afterwards: %s", p)
		}
	}
}
