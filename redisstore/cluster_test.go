package redisstore

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/chatguard/chatguard/shared"
)

// startCluster starts primaries that share the slots.
func startCluster(t *testing.T, n int) []*redisServer {
	t.Helper()
	servers := make([]*redisServer, n)
	for i := range servers {
		r := startRedis(t, "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--cluster-node-timeout", "5000")
		r.must("CLUSTER", "ADDSLOTSRANGE", fmt.Sprint((i*16384+n/2)/n), fmt.Sprint(((i+1)*16384+n/2)/n-1))
		r.must("CONFIG", "SET", "cluster-announce-ip", "127.0.0.1")
		must(t, r.do("CLUSTER", "SET-CONFIG-EPOCH", fmt.Sprint(i+1)).Error())
		servers[i] = r
	}
	for _, r := range servers[1:] {
		r.must("CLUSTER", "MEET", "127.0.0.1", fmt.Sprint(servers[0].Port))
	}
	for _, r := range servers {
		client := r.client()
		defer client.Close()
		eventually(t, "the Cluster is complete", func() bool {
			info := mustString(t, client.Do(t.Context(), client.B().ClusterInfo().Build()))
			return strings.Contains(info, "cluster_state:ok") && strings.Contains(info, fmt.Sprint("cluster_known_nodes:", n))
		})
	}
	return servers
}

func TestCluster(t *testing.T) {
	t.Parallel()
	servers := startCluster(t, 3)
	url := "redis+cluster://" + servers[0].Addr() + "," + servers[1].Addr()
	wantError(t, openRefused(t, servers[0].URL(), Options{}), "write redis+cluster://")
	a, b := open(t, url, Options{Node: "a"}), open(t, url, Options{Node: "b"})
	ga, gb := &fakeGuard{}, &fakeGuard{}
	run(t, a, ga)
	run(t, b, gb)
	eventually(t, "both are listed and subscribe", func() bool {
		_, numbered := a.Number()
		return a.Health().Nodes == 2 && ga.count(allRows) > 0 && gb.count(allRows) > 0 && numbered
	})
	// Rows on all shards in one call.
	var swaps []*shared.Swap
	for i := range 200 {
		user := fmt.Sprint("user", i)
		swaps = append(swaps, &shared.Swap{Rows: []shared.Row{row("lobby", user, "", "1"), row("", user, "", "2")}})
	}
	a.Swap(t.Context(), swaps)
	for i, swap := range swaps {
		if !swap.Done {
			t.Fatal(i, swap.Err)
		}
	}
	for i, r := range servers {
		if n := r.integer("DBSIZE"); n < 50 {
			t.Errorf("shard %d has %d keys", i, n)
		}
	}
	swap := one("user1", "1", "3")
	swap.Notify, swap.Rows[0].HasOverride = true, true
	check(t, a, swap, true)
	eventually(t, "the notice arrives", func() bool { return gb.count("lobby/user1") == 1 })
	must(t, a.SetDocument(t.Context(), "x", []byte("1"), 0))
	if found := readDocuments(t, b, "x", "y", "z"); found != "x: 1 1; y: 0 ; z: 0 ; " {
		t.Error(found)
	}
	step(t, a.Lead("x"))
	for _, f := range a.Diagnose(t.Context()) {
		if f.Level == Problem {
			t.Errorf("%+v", f)
		}
	}
	both := attempt(t, a, &shared.Swap{Rows: []shared.Row{row("lobby", "a", "", "1"), row("lobby", "", "", "2")}})
	if both.Done || both.Err == nil || !strings.Contains(both.Err.Error(), "set Options.Placement") {
		t.Error(both.Err)
	}
	if h := a.Health(); !h.Up || !h.Refusing || !strings.Contains(h.Problem, "set Options.Placement") {
		t.Errorf("%+v", h)
	}
	_, _, err := a.writer.compareAndSet(t.Context(), a.server.keys.own("odd"), "", "no set", 0)
	must(t, err)
	unlisted := &shared.Swap{Rows: []shared.Row{row("odd", "a", "", "1")}}
	unlisted.Rows[0].HasOverride = true
	if attempt(t, a, unlisted); unlisted.Err == nil {
		t.Error("a row was stored that Overrides doesn't list")
	}
	check(t, a, &shared.Swap{Rows: []shared.Row{row("odd", "a", "", "")}}, true)
	for placement, rows := range map[Placement][]shared.Row{
		PlaceByChannel: {row("lobby", "a", "", "1"), row("lobby", "", "", "2"), row("lobby", "b", "", "3")},
		PlaceTogether:  {row("lobby", "a", "", "1"), row("", "a", "", "2"), row("lobby", "", "", "3")},
	} {
		s := open(t, url, Options{Namespace: fmt.Sprint("p", placement), Placement: placement})
		check(t, s, &shared.Swap{Rows: rows}, true)
	}
	moveWhileWritten(t, servers, a)
	moveClock(t, servers, a)
}

// shardOf returns the index of the shard that has a slot, of three that startCluster has started.
func shardOf(slot int64) int { return int(min(2, slot/5462)) }

// moveSlot moves a slot, with its rows, to another shard.
func moveSlot(t testing.TB, from, to *redisServer, slot int64) {
	t.Helper()
	number, fromID, toID := fmt.Sprint(slot), mustString(t, from.must("CLUSTER", "MYID")), mustString(t, to.must("CLUSTER", "MYID"))
	to.must("CLUSTER", "SETSLOT", number, "IMPORTING", fromID)
	from.must("CLUSTER", "SETSLOT", number, "MIGRATING", toID)
	eventually(t, "the slot is empty", func() bool {
		keys, err := from.must("CLUSTER", "GETKEYSINSLOT", number, "100").AsStrSlice()
		for _, key := range keys {
			from.do("MIGRATE", "127.0.0.1", fmt.Sprint(to.Port), key, "0", "1000")
		}
		return err == nil && len(keys) == 0
	})
	to.must("CLUSTER", "SETSLOT", number, "NODE", toID)
	from.must("CLUSTER", "SETSLOT", number, "NODE", toID)
}

// moveWhileWritten moves a row to another shard while it is written.
func moveWhileWritten(t *testing.T, servers []*redisServer, s *Store) {
	t.Helper()
	key := s.server.keys.row(&shared.Row{ChannelID: "lobby", UserID: "mover"})
	slot := servers[0].integer("CLUSTER", "KEYSLOT", key)
	from, to := servers[shardOf(slot)], servers[(shardOf(slot)+1)%3]
	seen := ""
	var writer sync.WaitGroup
	stop := make(chan struct{})
	writer.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if done, _ := increment(s, "mover", fmt.Sprint(i), &seen); !done {
				t.Errorf("swap %d isn't done: %q", i, seen)
				return
			}
		}
	})
	moveSlot(t, from, to, slot)
	check(t, s, one("after", "", "1"), true)
	close(stop)
	writer.Wait()
	if stored := mustString(t, to.must("GET", key)); stored != seen {
		t.Errorf("stored %q, written %q", stored, seen)
	}
}

// moveClock moves the record of corrections to another shard: the node uses that one's clock and
// record from then on.
func moveClock(t *testing.T, servers []*redisServer, s *Store) {
	t.Helper()
	slot := servers[0].integer("CLUSTER", "KEYSLOT", s.server.keys.clock())
	to := servers[(shardOf(slot)+1)%3]
	moveSlot(t, servers[shardOf(slot)], to, slot)
	const record = "5 0 1 not-jumped"
	to.must("SET", s.server.keys.clock(), record)
	eventually(t, "the node reads the record where it is", func() bool { return s.server.clock.record() == record })
}

// startPair starts a primary and its replica.
func startPair(t *testing.T) (first, second *redisServer) {
	t.Helper()
	first = startRedis(t, "--repl-diskless-sync-delay", "0")
	second = startRedis(t, "--repl-diskless-sync-delay", "0", "--replicaof", "127.0.0.1 "+fmt.Sprint(first.Port))
	eventually(t, "the replica follows", func() bool {
		return strings.Contains(second.text("INFO", "replication"), "master_link_status:up")
	})
	return first, second
}

// TestCluster_Heartbeats checks that all kinds of heartbeats are possible on a Cluster, whose
// client doesn't send all commands together, and that they look at the shard that has refused a
// swap.
func TestCluster_Heartbeats(t *testing.T) {
	t.Parallel()
	servers := startCluster(t, 3)
	s := open(t, "redis+cluster://"+servers[0].Addr(), Options{})
	shard := func(user string) int64 {
		slot, err := servers[0].must("CLUSTER", "KEYSLOT", "{u:"+user+"}").AsInt64()
		must(t, err)
		return int64(shardOf(slot))
	}
	full, other := servers[shard("a")], 0
	for shard(fmt.Sprint(other)) == shard("a") {
		other++
	}
	full.must("CONFIG", "SET", "maxmemory", "1")
	attempt(t, s, one("a", "", "1"))
	for i := range evictionBeats {
		s.registry.heartbeat(t.Context(), &fakeGuard{}) // it may need the full shard
		check(t, s, one(fmt.Sprint(other), strings.Repeat("1", i), strings.Repeat("1", i+1)), true)
		if h := s.Health(); !h.Refusing || strings.Count(h.Problem, memoryFull) != 1 {
			t.Errorf("other shards say nothing about the one that has refused a swap: %+v", h)
		}
	}
	full.must("CONFIG", "SET", "maxmemory", "0")
	for range evictionBeats {
		must(t, s.registry.heartbeat(t.Context(), &fakeGuard{}))
		if h := s.Health(); h.Problem != "" {
			t.Errorf("the shard accepts swaps: %+v", h)
		}
	}
}

// TestSentinel checks that a store follows a failover.
func TestSentinel(t *testing.T) {
	t.Parallel()
	first, second := startPair(t)
	watcher := startSentinel(t, first)
	s := open(t, "redis+sentinel://"+watcher.Addr()+"/main", Options{Replicas: 1})
	guard := &fakeGuard{}
	run(t, s, guard)
	eventually(t, "the node subscribes", func() bool { return guard.count(allRows) > 0 && s.Health().Nodes == 1 })
	check(t, s, one("a", "", "1"), true)
	if h := s.Health(); h.Problem != "" {
		t.Error(h.Problem) // the replica confirms
	}
	before := guard.count(allRows)
	failOver(watcher, first, second)
	tries := 0
	eventually(t, "the store uses the new primary", func() bool {
		if !strings.Contains(second.text("INFO", "replication"), "role:master") {
			return false
		}
		tries++
		swap := attempt(t, s, one(fmt.Sprint("b", tries), "", "1"))
		return swap.Done && second.text("GET", fmt.Sprintf("cg1:{u:b%d}:c:lobby", tries)) == "1"
	})
	check(t, s, one("a", "1", "2"), true)
	eventually(t, "the Guard reads all rows again", func() bool { return guard.count(allRows) > before })
	first.Kill()
	// WAIT has no replica to wait for.
	check(t, s, one("a", "2", "3"), true)
	if h := s.Health(); !strings.Contains(h.Problem, "replicas") {
		t.Errorf("%+v", h)
	}
}
