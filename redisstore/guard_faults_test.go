package redisstore

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/shared"
)

// disturb calls do each time that the nodes have made so many more swaps: a slow machine gets on,
// too. The returned function ends that, and returns how often do was called.
func disturb(nodes []node, swaps int64, do func()) (stop func() (times int)) {
	done, times := make(chan struct{}), 0
	var wg sync.WaitGroup
	wg.Go(func() {
		for next := swaps; ; {
			made := int64(0)
			for _, n := range nodes {
				for _, count := range n.store.Stats().Swaps.Counts {
					made += count
				}
			}
			if made >= next {
				do()
				next, times = made+swaps, times+1
			}
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
		}
	})
	return func() int {
		close(done)
		wg.Wait()
		return times
	}
}

// Killed connections and a reload change nothing, and nothing is degraded.
func TestGuards_Disturbed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command []string
		swaps   int64 // between two of them
	}{
		"CLIENT KILL":  {[]string{"CLIENT", "KILL", "TYPE", "normal"}, 50},
		"DEBUG RELOAD": {[]string{"DEBUG", "RELOAD"}, 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startRedis(t, "--enable-debug-command", "local")
			nodes := startNodes(t, r.URL(), 2, enforced(), Options{}, shared.Exact)
			client := r.client()
			defer client.Close()
			stop := disturb(nodes, c.swaps, func() { client.Do(context.Background(), client.B().Arbitrary(c.command...).Build()) })
			rounds(t, nodes, enforced(), 60, 12, 6)
			if times := stop(); times == 0 {
				t.Error("nothing has disturbed the nodes")
			} else {
				t.Logf("disturbed %d times", times)
			}
		})
	}
}

// A node joins, and another leaves without a word, while messages are judged.
func TestGuards_JoinAndLeave(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	nodes := startNodes(t, r.URL(), 3, enforced(), Options{}, shared.Exact)
	one := alone(t, enforced())
	at := time.Now()
	var allowed, want int64
	for i := range 4 {
		switch i {
		case 1:
			nodes = append(nodes, startNodes(t, r.URL(), 1, enforced(), Options{}, shared.Exact)...)
		case 2:
			nodes[0].stop()
			nodes = nodes[1:]
		}
		a, degraded := hammer(t, nodes, 50, 6, at)
		allowed += a
		if degraded != 0 {
			t.Errorf("round %d: %d are degraded", i, degraded)
		}
		want += one.allows(t, 50, 6, at)
		at = at.Add(5 * time.Second)
	}
	if allowed != want {
		t.Errorf("%d are allowed, want %d", allowed, want)
	}
}

// errServerGone is why a test declares a server away. TestBreaker_ServerKilled and
// TestBreaker_ServerStopped check that a node notices it.
var errServerGone = errors.New("the server is gone")

// While the server is gone, nodes decide on their own, without waiting for it. What they allow is
// paid back.
func TestGuards_ServerGone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ leave, comeBack func(*redisServer) }{
		"killed":  {(*redisServer).Kill, (*redisServer).Start},
		"stopped": {func(r *redisServer) { r.Signal(syscall.SIGSTOP) }, func(r *redisServer) { r.Signal(syscall.SIGCONT) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startRedis(t)
			nodes := startNodes(t, r.URL(), 2, enforced(), Options{}, shared.Exact)
			at := time.Now()
			for _, n := range nodes {
				n.check(t, "7", at)
			}
			c.leave(r)
			for _, n := range nodes {
				n.store.server.goAway(errServerGone)
			}
			at = at.Add(time.Hour) // their bursts are whole again
			allowed := 0
			for _, n := range nodes {
				for range 10 {
					v := n.check(t, "7", at)
					if !v.Degraded {
						t.Errorf("not degraded: %+v", v)
					}
					if v.Allowed {
						allowed++
					}
				}
			}
			if allowed != 6 {
				t.Errorf("%d are allowed while the server is gone, want 3 by each node", allowed)
			}
			if nodes[0].Shared().Counts().Pending == 0 {
				t.Error("nothing is owed")
			}
			c.comeBack(r)
			eventually(t, "nothing is owed", func() bool {
				return nodes[0].store.Health().Up && nodes[1].store.Health().Up && nodes[0].Shared().Counts().Pending+nodes[1].Shared().Counts().Pending == 0
			})
			// Six were allowed: four tokens are missing before the next.
			if v := nodes[0].check(t, "7", at.Add(16*time.Second-1)); v.Allowed || v.Degraded {
				t.Errorf("before the debt is paid back: %+v", v)
			}
			if v := nodes[1].check(t, "7", at.Add(16*time.Second)); !v.Allowed || v.Degraded {
				t.Errorf("after the debt is paid back: %+v", v)
			}
		})
	}
}

// A server that comes back empty gets the rows back from the node that has written them last.
func TestGuards_EmptyServer(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	nodes := startNodes(t, r.URL(), 2, enforced(), Options{}, shared.Exact)
	at := time.Now()
	for range 4 {
		nodes[1].check(t, "reset", at)
	}
	must(t, nodes[0].Reset(t.Context(), chatguard.Key{ChannelID: "lobby", UserID: "reset"}))
	eventually(t, "the notice of the reset and one after it arrive", func() bool {
		r.must("PUBLISH", "cg1:changes", "policy after -")
		select {
		case name := <-nodes[1].store.Changes():
			return name == "after"
		default:
			return false
		}
	})
	r.must("FLUSHALL")
	if v := nodes[1].check(t, "reset", at); !v.Allowed {
		t.Errorf("after a reset, and a loss: %+v", v)
	}
	var before, after int64
	send := func() (allowed int64) {
		for u := range 100 {
			for range 4 {
				if nodes[u%2].check(t, strconv.Itoa(u), at).Allowed {
					allowed++
				}
			}
		}
		return allowed
	}
	before = send()
	r.must("FLUSHALL")
	at = at.Add(4*time.Second - 1) // the refusals don't come from memory
	after = send()
	if before != 300 || after != 0 {
		t.Errorf("%d are allowed before the server loses its rows and %d after it, want 300 and 0", before, after)
	}
}

// While one node is cut off from the server, only that node is degraded, and the other stays exact.
// Afterwards, the user pays back what both have allowed.
func TestGuards_OneCutOff(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	way := startGate(t, r.Addr())
	const burst, refill = 3, 4 * time.Second
	policy := enforced(chatguard.Limit{Name: "burst", Algorithm: chatguard.TokenBucket, Burst: burst, Refill: refill})
	near := startNodes(t, r.URL(), 1, policy, Options{}, shared.Exact)[0]
	far := startNodes(t, "redis://"+way.addr, 1, policy, Options{}, shared.Exact)[0]
	one := alone(t, policy)
	start := time.Now()
	at := start
	// send sends a user's messages through a node, and returns how many are allowed.
	send := func(n node, user string, messages int, degraded bool) (allowed int) {
		t.Helper()
		for range messages {
			v := n.check(t, user, at)
			if v.Degraded != degraded {
				t.Errorf("user %s at the node %s: degraded %t, want %t", user, n.store.server.options.Node, v.Degraded, degraded)
			}
			if v.Allowed {
				allowed++
			}
		}
		return allowed
	}
	if a, b := send(near, "7", 1, false), send(far, "7", 1, false); a+b != 2 {
		t.Fatalf("%d of 2 are allowed", a+b)
	}
	way.close()
	far.store.server.goAway(errServerGone)
	allowed := 2
	for round := range 5 {
		at = at.Add(refill)
		allowed += send(near, "7", 4, false) + send(far, "7", 4, true)
		for _, user := range []string{"8", "9"} { // they only use the near node, which stays exact
			got := send(near, user, 5, false)
			for range 5 {
				if one.check(t, user, at).Allowed {
					got--
				}
			}
			if got != 0 {
				t.Errorf("round %d: the near node allows %+d messages of user %s", round, got, user)
			}
		}
	}
	if !near.store.Health().Up || near.Shared().Counts().Offline != 0 {
		t.Errorf("the near node: %+v, %+v", near.store.Health(), near.Shared().Counts())
	}
	if far.Shared().Counts().Pending == 0 {
		t.Error("the far node owes nothing")
	}
	way.open()
	eventually(t, "the far node owes nothing", func() bool { return far.store.Health().Up && far.Shared().Counts().Pending == 0 })
	exact := burst + int(at.Sub(start)/refill)
	t.Logf("%d are allowed, %d exact", allowed, exact)
	if allowed <= exact {
		t.Fatalf("%d are allowed, so nothing is to be paid back", allowed)
	}
	// The next message is allowed when the debt is paid back. Together that is as many as without
	// the fault.
	debt := time.Duration(allowed-exact+1) * refill
	if v := near.check(t, "7", at.Add(debt-1)); v.Allowed || v.Degraded {
		t.Errorf("before the debt is paid back: %+v", v)
	}
	if v := far.check(t, "7", at.Add(debt)); !v.Allowed || v.Degraded {
		t.Errorf("after the debt is paid back: %+v", v)
	}
}
