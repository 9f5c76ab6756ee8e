package redisstore

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/limittest"
	"github.com/chatguard/chatguard/internal/turntest"
	"github.com/chatguard/chatguard/shared"
)

// disturb calls do at the first swap, and then each time that the nodes have made so many more: a
// slow machine gets on, too. The returned function ends that, and returns how often do was called.
func disturb(nodes []node, swaps int64, do func()) (stop func() (times int)) {
	done, times := make(chan struct{}), 0
	var wg sync.WaitGroup
	wg.Go(func() {
		for next := int64(1); ; {
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

// errServerGone is why a test declares a server away. TestBreaker_ServerKilled and
// TestBreaker_ServerStopped check that a node notices it.
var errServerGone = errors.New("the server is gone")

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
}

// What a node has allowed while the server was away isn't written before other nodes have given
// back what an empty server has lost.
func TestGuards_EmptyAfterOutage(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	policy := enforced()
	policy.Limits = []chatguard.Limit{chatguard.FixedWindowLimit("hour", 100, time.Hour)}
	nodes, at := startNodes(t, r.URL(), 2, policy, Options{}, shared.Exact), time.Now()
	for range 8 {
		nodes[0].check(t, "7", at)
	}
	for _, n := range nodes {
		n.store.server.goAway(errServerGone)
	}
	r.Kill()
	if v := nodes[1].check(t, "7", at); !v.Degraded {
		t.Errorf("%+v, want a decision without the server", v)
	}
	r.Start()
	eventually(t, "the node pays back", func() bool {
		return nodes[1].store.Health().Up && nodes[1].Shared().Counts().Pending == 0
	})
	if v := nodes[0].check(t, "7", at); v.Degraded || v.Remaining != 90 {
		t.Errorf("%+v, want 90 messages left of 100", v)
	}
}

// group is nodes that share limits over a server.
type group struct {
	*place
	way   *gate // of the first node to the server
	start func() node
	nodes []node
}

// goAway makes nodes notice at once that the server is gone.
func (o *group) goAway(nodes []node) {
	for _, n := range nodes {
		n.store.server.goAway(errServerGone)
	}
}

// outages are what may happen to the server between two rounds of messages, and how it ends.
var outages = []struct {
	name     string
	where    string // place
	begin    func(o *group)
	end      func(o *group)
	degraded func(node int) bool // meanwhile; nil means that any may be
	empty    bool                // the server loses its rows
}{
	{
		"stopped", "Redis",
		func(o *group) { o.servers[0].Signal(syscall.SIGSTOP); o.goAway(o.nodes) },
		func(o *group) { o.servers[0].Signal(syscall.SIGCONT) },
		func(int) bool { return true }, false,
	},
	{
		"killed", "Redis",
		func(o *group) { o.servers[0].Kill(); o.goAway(o.nodes) },
		func(o *group) { o.servers[0].Start() },
		func(int) bool { return true }, true,
	},
	{
		"first node cut off", "Redis",
		func(o *group) { o.way.close(); o.goAway(o.nodes[:1]) },
		func(o *group) { o.way.open() },
		func(node int) bool { return node == 0 }, false,
	},
	{
		"emptied", "Redis",
		func(o *group) { o.servers[0].must("FLUSHALL") },
		func(*group) {},
		nil, true, // nodes may need a second to find out which of them knows the newest row
	},
	{
		"nodes restart", "Redis",
		func(o *group) {
			for i := range o.nodes {
				o.nodes[i].stop()
				o.nodes[i] = o.start()
			}
		},
		func(*group) {},
		func(int) bool { return false }, false,
	},
	{
		"primary killed", "Sentinel",
		func(o *group) {
			eventually(o.servers[0].t, "the replica has all writes, which it may not have confirmed in time", func() bool {
				return o.servers[1].number("replication", "slave_repl_offset") >= o.servers[0].number("replication", "master_repl_offset")
			})
			o.servers[0].Kill()
			o.goAway(o.nodes)
		},
		func(o *group) { failOver(o.watcher, o.servers[0], o.servers[1]) },
		func(int) bool { return true }, false,
	},
}

// An outage changes nothing for a node that is alone. Of several nodes, each decides on its own
// meanwhile. What they allow together is paid back, and nobody gets less than one node would allow.
func TestGuards_Outages(t *testing.T) {
	t.Parallel()
	type scene struct {
		fault, nodes int
		limit        chatguard.Limit
	}
	var all []scene
	for i := range outages {
		for _, limit := range []chatguard.Limit{chatguard.TokenBucketLimit("bucket", 3, 4*time.Second), chatguard.FixedWindowLimit("window", 5, 20*time.Second)} {
			for _, nodes := range []int{1, 2, 3, 5} {
				all = append(all, scene{i, nodes, limit})
			}
		}
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] }) // a sample is mixed
	for _, s := range turntest.Sample(t, 6, all) {
		fault := outages[s.fault]
		t.Run(fmt.Sprintf("%s, %s, %d nodes", fault.name, s.limit.Name, s.nodes), func(t *testing.T) {
			t.Parallel()
			o := &group{place: places[fault.where](t)}
			opts := Options{}
			if fault.where == "Sentinel" {
				opts.Replicas = 1
			}
			policy := enforced(s.limit)
			var clock atomic.Int64
			start := func(url string, n int) []node {
				return startNodesAt(t, url, n, policy, opts, shared.Exact, func() time.Time { return time.Unix(0, clock.Load()) })
			}
			at := time.Now()
			clock.Store(at.UnixNano())
			o.start = func() node { return start(o.url, 1)[0] }
			o.way = startGate(t, o.servers[0].Addr())
			direct := o.url
			if fault.where == "Redis" {
				direct = "redis://" + o.way.addr
			}
			o.nodes = append(start(direct, 1), start(o.url, s.nodes-1)...)

			const users, away, back, rounds, between = 10, 2, 5, 45, 5 * time.Second
			ideal := limittest.New(s.limit)
			var excess [users]int
			var tooMany, tooFew, left, degraded int
			var recovery time.Duration
			for i := range rounds {
				switch i {
				case away:
					fault.begin(o)
				case back:
					began := time.Now()
					fault.end(o)
					for _, n := range o.nodes {
						eventually(t, "nothing is pending", func() bool {
							clock.Store(at.Add(time.Since(began)).UnixNano())
							return n.store.Health().Up && n.Shared().Counts().Pending == 0
						})
						for u := range users {
							eventually(t, "nothing is degraded", func() bool {
								clock.Store(at.Add(time.Since(began)).UnixNano())
								v, err := n.Peek(t.Context(), chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: strconv.Itoa(u)}})
								return err == nil && !v.Degraded
							})
						}
					}
					recovery = time.Since(began)
					at = at.Add(recovery)
					clock.Store(at.UnixNano())
				}
				got := hammer(t, o.nodes, users, 3*s.nodes, at)
				for n, count := range got.degraded {
					outside := i < away || i >= back
					if outside {
						degraded += count
					} else if fault.degraded != nil && !fault.degraded(n) && count > 0 {
						t.Errorf("round %d: %d are degraded at node %d", i, count, n)
					}
				}
				left = 0
				for u := range users {
					excess[u] += got.allowed[u]
					for range 3 * s.nodes {
						if ideal.Check(at, "lobby", strconv.Itoa(u)) {
							excess[u]--
						}
					}
					left += excess[u]
					tooFew = max(tooFew, -excess[u])
				}
				tooMany = max(tooMany, left)
				at = at.Add(between)
				clock.Store(at.UnixNano())
			}
			t.Logf("at most %d too many, %d at the end; at most %d of one user too few; %d degraded before or after; up after %v", tooMany, left, tooFew, degraded, recovery)
			most := 0
			if fault.empty && s.nodes > 1 { // which may give a full allowance once more
				most = users * ideal.Capacity()
			}
			if s.nodes > 1 && s.limit.Refill > 0 {
				// On a slow machine, users pause for long while the nodes recover. A bucket alone
				// is full then, and loses what a bucket in debt still regains.
				full := ideal.Period() - s.limit.Refill // at the earliest
				lost := max(0, between+recovery-full)
				most += users * int((lost+s.limit.Refill-1)/s.limit.Refill)
			}
			if left > most || tooFew > 0 || degraded > 0 {
				t.Errorf("want at most %d too many at the end, and nothing else", most)
			}
			if s.nodes == 1 && tooMany > 0 {
				t.Error("the outage changes what a node that is alone allows")
			}
		})
	}
}
