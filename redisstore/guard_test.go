package redisstore

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/shared"
)

// node is a Guard that shares limits over a server.
type node struct {
	*chatguard.Guard
	store *Store
	stop  func() // ends Run, and closes the store
}

// startNodes starts nodes that share limits over a server.
func startNodes(t testing.TB, url string, n int, policy chatguard.Policy, opts Options, mode shared.Mode) (nodes []node) {
	t.Helper()
	return startNodesAt(t, url, n, policy, opts, mode, nil)
}

// timed is a Store with another clock.
type timed struct {
	*Store
	now func() time.Time
}

// Clock implements [shared.Store].
func (s timed) Clock() (now time.Time, skew time.Duration) { return s.now(), 0 }

// startNodesAt is startNodes with a clock; nil means that of the server.
func startNodesAt(t testing.TB, url string, n int, policy chatguard.Policy, opts Options, mode shared.Mode, now func() time.Time) (nodes []node) {
	t.Helper()
	for range n {
		s := open(t, url, opts)
		guardOpts := &chatguard.Options{Shared: s, SharedMode: mode, TextKey: [16]byte{1}}
		if now != nil {
			guardOpts.Shared = timed{s, now}
		}
		g, err := chatguard.New(policy, guardOpts)
		must(t, err)
		stop := run(t, s, g.Shared())
		nodes = append(nodes, node{g, s, func() { stop(); s.Close() }})
	}
	for _, n := range nodes {
		eventually(t, "the store answers", func() bool { return n.store.Health().Up })
		eventually(t, "all nodes receive notices", func() bool {
			result, err := n.store.server.request(t.Context(), func(b builder) command {
				return b.Arbitrary("PUBSUB", "NUMSUB").Args(n.store.server.keys.changes()).ReadOnly()
			})
			if err != nil {
				return false
			}
			counts, err := result[0].ToArray()
			if err != nil || len(counts) != 2 {
				return false
			}
			subscribed, err := counts[1].AsInt64()
			return err == nil && subscribed >= int64(len(nodes))
		})
	}
	return nodes
}

func enforced(limits ...chatguard.Limit) chatguard.Policy {
	p := chatguard.DefaultPolicy()
	p.Mode = chatguard.ModeEnforce
	if len(limits) > 0 {
		p.Limits = limits
	}
	return p
}

// alone returns a node that shares nothing.
func alone(t testing.TB, policy chatguard.Policy) node {
	t.Helper()
	g, err := chatguard.New(policy, &chatguard.Options{TextKey: [16]byte{1}})
	must(t, err)
	return node{Guard: g}
}

func (n node) check(t testing.TB, user string, at time.Time) chatguard.Verdict {
	t.Helper()
	v, err := n.Check(t.Context(), chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: user}, SentAt: at})
	if err != nil {
		t.Error(err)
	}
	return v
}

// round is the outcome of messages of several users.
type round struct {
	allowed  []int // by user
	degraded []int // by node
}

func total(counts []int) (sum int) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

// hammer sends messages of each user through random nodes, all at the same time, from many
// goroutines.
func hammer(t testing.TB, nodes []node, users, each int, at time.Time) round {
	t.Helper()
	got := round{make([]int, users), make([]int, len(nodes))}
	var mu sync.Mutex
	var wg sync.WaitGroup
	messages, workers := rand.Perm(users*each), 8*len(nodes)
	for w := range workers {
		n := w % len(nodes)
		wg.Go(func() {
			for i := w; i < len(messages); i += workers {
				user := messages[i] % users
				v := nodes[n].check(t, strconv.Itoa(user), at)
				mu.Lock()
				if v.Allowed {
					got.allowed[user]++
				}
				if v.Degraded {
					got.degraded[n]++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return got
}

// Rows expire a minute after they have no effect any more; strikes stay until they are forgotten.
func TestGuards_Expiry(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	policy := enforced(chatguard.Limit{Name: "burst", Algorithm: chatguard.TokenBucket, Burst: 2, Refill: time.Second})
	policy.Penalties.ForgetAfter = time.Hour
	nodes := startNodes(t, r.URL(), 1, policy, Options{}, shared.Exact)
	at := time.Now()
	nodes[0].check(t, "polite", at)
	for range 4 {
		nodes[0].check(t, "struck", at)
	}
	for user, want := range map[string]time.Duration{"polite": time.Minute + time.Second, "struck": time.Hour + time.Minute} {
		stays := time.UnixMilli(r.integer("PEXPIRETIME", "cg1:{u:"+user+"}:c:lobby")).Sub(at)
		if (stays - want).Abs() > time.Millisecond {
			t.Errorf("the row of %s expires after %v, want %v", user, stays, want)
		}
	}
}

// commandCalls returns how often the server has executed a command.
func (r *redisServer) commandCalls(name string) (calls int) {
	r.t.Helper()
	_, _ = fmt.Sscanf(r.info("commandstats", "cmdstat_"+name), "calls=%d", &calls) // none: never
	return calls
}

// Refusals come from memory: the server hears of one in StrikeEvery.
func TestGuards_RefusalsFromMemory(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	policy := enforced()
	policy.Penalties.StrikeEvery = time.Hour
	nodes := startNodes(t, r.URL(), 1, policy, Options{}, shared.Exact)
	at := time.Now()
	for range 4 {
		nodes[0].check(t, "7", at)
	}
	before := r.commandCalls("evalsha") + r.commandCalls("get")
	began := time.Now()
	for range 10_000 {
		nodes[0].check(t, "7", at)
	}
	// Others are the node's own records, each second, and one read every ten seconds.
	took := time.Since(began)
	if calls := r.commandCalls("evalsha") + r.commandCalls("get") - before; calls > 50+10*int(took/time.Second) {
		t.Errorf("%d commands for 10,000 refusals in %v", calls, took)
	}
	if got := nodes[0].Shared().Counts().FromMemory; got < 9_900 {
		t.Errorf("%d of 10,000 refusals came from memory", got)
	}
}

// Nodes that decide in memory stay within the bound, and pay back.
func TestGuards_Synchronised(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	policy := enforced(chatguard.Limit{Name: "window", Algorithm: chatguard.DailyWindow, Messages: 100})
	nodes := startNodes(t, r.URL(), 3, policy, Options{Interval: 20 * time.Millisecond}, shared.Synchronised)
	at := time.Now()
	allowed := 0
	eventually(t, "the day is used up on all nodes", func() bool {
		before := allowed
		for _, n := range nodes {
			if n.check(t, "7", at).Allowed {
				allowed++
			}
		}
		return allowed == before
	})
	if allowed < 100 || allowed > 300 {
		t.Errorf("%d are allowed, want 100, and at most 100 more for each further node", allowed)
	}
	t.Logf("%d allowed of 100", allowed)
}
