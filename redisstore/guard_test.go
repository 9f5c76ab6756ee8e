package redisstore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/chatguard/chatguard"
)

// node is a Guard that shares limits over a server.
type node struct {
	*chatguard.Guard
	store *Store
	stop  func() // ends Run, and closes the store
}

// startNodes starts nodes that share limits over a server.
func startNodes(t testing.TB, url string, n int, policy chatguard.Policy, opts Options, mode chatguard.ShareMode) (nodes []node) {
	t.Helper()
	for range n {
		s := open(t, url, opts)
		g, err := chatguard.New(policy, &chatguard.Options{Shared: s, ShareMode: mode})
		if err != nil {
			t.Fatal(err)
		}
		stop := run(t, s, g)
		nodes = append(nodes, node{g, s, func() { stop(); s.Close() }})
	}
	for _, n := range nodes {
		eventually(t, "the store answers", func() bool { return n.store.Health().Up })
		eventually(t, "all nodes receive notices", func() bool {
			result, err := n.store.ask(t.Context(), func(b rueidis.Builder) []rueidis.Completed {
				return []rueidis.Completed{b.Arbitrary("PUBSUB", "NUMSUB").Args(n.store.keys.changes()).ReadOnly()}
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
	p.Mode = chatguard.Enforce
	if len(limits) > 0 {
		p.Limits = limits
	}
	return p
}

func alone(t testing.TB, policy chatguard.Policy) *chatguard.Guard {
	t.Helper()
	g, err := chatguard.New(policy, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func (n node) check(t testing.TB, user string, at time.Time) chatguard.Verdict {
	t.Helper()
	v, err := n.Check(t.Context(), chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: user}, SentAt: at})
	if err != nil {
		t.Error(err)
	}
	return v
}

// hammer sends messages of each user through random nodes, all at the same time, from many
// goroutines. It returns how many are allowed, and how many are degraded.
func hammer(t testing.TB, nodes []node, users, each int, at time.Time) (allowed, degraded int64) {
	t.Helper()
	var wg sync.WaitGroup
	work := make(chan string)
	var passed, apart atomic.Int64
	for w := range 8 * len(nodes) {
		n := nodes[w%len(nodes)]
		wg.Go(func() {
			for user := range work {
				v := n.check(t, user, at)
				if v.Allowed {
					passed.Add(1)
				}
				if v.Degraded {
					apart.Add(1)
				}
			}
		})
	}
	for range each {
		for u := range users {
			work <- strconv.Itoa(u)
		}
	}
	close(work)
	wg.Wait()
	return passed.Load(), apart.Load()
}

// rounds hammers the nodes in several rounds at later times, and checks that together they allow
// what one Guard alone does.
func rounds(t testing.TB, nodes []node, policy chatguard.Policy, users, each, count int) {
	t.Helper()
	one := alone(t, policy)
	at := time.Now()
	var asked, allowed, degraded, want int64
	for range count {
		a, d := hammer(t, nodes, users, each, at)
		allowed, degraded, asked = allowed+a, degraded+d, asked+int64(users*each)
		for range each {
			for u := range users {
				v, err := one.Check(t.Context(), chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: strconv.Itoa(u)}, SentAt: at})
				if err != nil {
					t.Fatal(err)
				}
				if v.Allowed {
					want++
				}
			}
		}
		at = at.Add(5 * time.Second)
	}
	t.Logf("asked %d, allowed %d, exact %d, degraded %d", asked, allowed, want, degraded)
	if allowed != want || degraded != 0 {
		t.Errorf("%d are allowed and %d degraded, want %d and 0", allowed, degraded, want)
	}
}

// Several nodes allow exactly what one alone would.
func TestGuards_Exact(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *redisServer, s *Store) {
		url := "redis://" + s.address.hosts[0]
		for _, c := range []struct{ nodes, users, each, rounds int }{{2, 100, 3, 2}, {4, 20, 50, 4}, {4, 1, 400, 3}, {2, 1000, 2, 2}} {
			nodes := startNodes(t, url, c.nodes, enforced(), Options{Namespace: fmt.Sprintf("n%d.%d.%d", c.nodes, c.users, c.each)}, chatguard.ShareExact)
			rounds(t, nodes, enforced(), c.users, c.each, c.rounds)
		}
	})
}

// sevenAlgorithms returns a policy with one limit of each algorithm.
func sevenAlgorithms() []chatguard.Limit {
	return []chatguard.Limit{
		{Name: "bucket", Algorithm: chatguard.TokenBucket, Burst: 4, Refill: 3 * time.Second},
		{Name: "queue", Algorithm: chatguard.LeakyBucket, Queue: 4, Every: 2 * time.Second},
		{Name: "fixed", Algorithm: chatguard.FixedWindow, Messages: 7, Every: 20 * time.Second},
		{Name: "daily", Algorithm: chatguard.DailyWindow, Messages: 60, Timezone: "Europe/Berlin"},
		{Name: "own", Algorithm: chatguard.UserWindow, Messages: 6, Every: 15 * time.Second},
		{Name: "sliding", Algorithm: chatguard.SlidingWindow, Messages: 8, Every: 25 * time.Second},
		{Name: "log", Algorithm: chatguard.SlidingLog, Messages: 9, Every: 30 * time.Second},
	}
}

// Each algorithm alone, and all together, with costs, roles and scopes: every verdict is the one of
// a Guard alone, in every field.
func TestGuards_EveryAlgorithm(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	policies := map[string]chatguard.Policy{"all": enforced(sevenAlgorithms()...)}
	for _, l := range sevenAlgorithms() {
		policies[l.Name] = enforced(l)
	}
	scopes := sevenAlgorithms()
	scopes[2].Per, scopes[3].Per, scopes[4].CountThrottled = chatguard.PerUserEverywhere, chatguard.PerChannel, true
	scopes[0].Roles = map[chatguard.Role]chatguard.Override{chatguard.Subscriber: {Burst: 9}}
	policies["scopes"] = enforced(scopes...)
	for name, policy := range policies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nodes := startNodes(t, r.URL(), 2, policy, Options{Namespace: name}, chatguard.ShareExact)
			one := alone(t, policy)
			random := rand.New(rand.NewPCG(7, 7))
			at := time.Now()
			for i := range 400 {
				at = at.Add(time.Duration(random.IntN(2500)) * time.Millisecond)
				m := chatguard.Message{
					ChannelID: "lobby", SentAt: at, Cost: 1 + random.IntN(3),
					User: chatguard.User{ID: strconv.Itoa(random.IntN(3)), Roles: chatguard.RolesOf([]chatguard.Role{chatguard.Everyone, chatguard.Subscriber}[random.IntN(2)])},
				}
				want, err := one.Check(t.Context(), m)
				if err != nil {
					t.Fatal(err)
				}
				got, err := nodes[random.IntN(2)].Check(t.Context(), m)
				if err != nil {
					t.Fatal(err)
				}
				want.EntryID, want.Series, got.EntryID, got.Series = 0, 0, 0, 0
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("message %d:\n got %+v\nwant %+v", i, got, want)
				}
				if !want.Allowed && !want.Never && i%5 == 0 { // it passes at its turn, and not sooner
					m.SentAt = at.Add(want.RetryAfter - 1)
					if v, err := nodes[0].Peek(m); err != nil || v.Allowed {
						t.Fatalf("message %d: allowed 1 ns before its turn (%v)", i, err)
					}
					m.SentAt = at.Add(want.RetryAfter)
					if v, err := nodes[1].Peek(m); err != nil || !v.Allowed {
						t.Fatalf("message %d: not allowed at its turn (%v)", i, err)
					}
				}
			}
		})
	}
}

// A message that one limit refuses spends nothing in the others, on any node (Rapidity's five
// windows).
func TestGuards_AllOrNothing(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	window := func(name string, messages int, every time.Duration) chatguard.Limit {
		return chatguard.Limit{Name: name, Algorithm: chatguard.FixedWindow, Messages: messages, Every: every}
	}
	nodes := startNodes(t, r.URL(), 2, enforced(
		window("minute", 300, time.Minute), window("hour", 15_750, time.Hour), window("day", 400, 24*time.Hour),
		window("week", 1_500_000, 7*24*time.Hour), window("month", 6_000_000, 30*24*time.Hour),
	), Options{}, chatguard.ShareExact)
	at := time.Now().Truncate(24 * time.Hour).Add(12 * time.Hour)
	for range 300 {
		nodes[0].check(t, "7", at)
	}
	for range 100 {
		nodes[0].check(t, "7", at.Add(time.Minute))
	}
	for range 50 {
		if v := nodes[1].check(t, "7", at.Add(time.Minute)); v.Allowed || v.Limit != "day" {
			t.Fatalf("after the day is used up: %+v", v)
		}
	}
	for i, n := range nodes {
		e, err := n.Explain(chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "7"}, SentAt: at.Add(time.Minute)})
		if err != nil {
			t.Fatal(err)
		}
		for k, want := range []int{100, 400, 400, 400, 400} {
			if got := e.Limits[k].Used; got != want {
				t.Errorf("node %d, %s: %d used, want %d", i, e.Limits[k].Name, got, want)
			}
		}
	}
}

// disturb calls do again and again until the returned function is called, which waits for the last
// call.
func disturb(do func(), every time.Duration) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(every):
				do()
			}
		}
	})
	return func() {
		close(done)
		wg.Wait()
	}
}

// Lost scripts, killed connections and a reload change nothing, and nothing is degraded.
func TestGuards_Disturbed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command []string
		every   time.Duration
	}{
		"SCRIPT FLUSH": {[]string{"SCRIPT", "FLUSH"}, 20 * time.Millisecond},
		"CLIENT KILL":  {[]string{"CLIENT", "KILL", "TYPE", "normal"}, 40 * time.Millisecond},
		"DEBUG RELOAD": {[]string{"DEBUG", "RELOAD"}, 100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startRedis(t, "--enable-debug-command", "local")
			nodes := startNodes(t, r.URL(), 2, enforced(), Options{}, chatguard.ShareExact)
			client := r.client()
			defer client.Close()
			stop := disturb(func() { client.Do(context.Background(), client.B().Arbitrary(c.command...).Build()) }, c.every)
			defer stop()
			rounds(t, nodes, enforced(), 60, 12, 6)
		})
	}
}

// A node joins, and another leaves without a word, while messages are judged.
func TestGuards_JoinAndLeave(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	nodes := startNodes(t, r.URL(), 3, enforced(), Options{}, chatguard.ShareExact)
	one := alone(t, enforced())
	at := time.Now()
	var allowed, want int64
	for i := range 4 {
		switch i {
		case 1:
			nodes = append(nodes, startNodes(t, r.URL(), 1, enforced(), Options{}, chatguard.ShareExact)...)
		case 2:
			nodes[0].stop()
			nodes = nodes[1:]
		}
		a, degraded := hammer(t, nodes, 50, 6, at)
		allowed += a
		if degraded != 0 {
			t.Errorf("round %d: %d are degraded", i, degraded)
		}
		for u := range 50 {
			for range 6 {
				if v, err := one.Check(t.Context(), chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: strconv.Itoa(u)}, SentAt: at}); err == nil && v.Allowed {
					want++
				}
			}
		}
		at = at.Add(5 * time.Second)
	}
	if allowed != want {
		t.Errorf("%d are allowed, want %d", allowed, want)
	}
}

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
			nodes := startNodes(t, r.URL(), 2, enforced(), Options{Timeout: 500 * time.Millisecond}, chatguard.ShareExact)
			at := time.Now()
			for _, n := range nodes {
				n.check(t, "7", at)
			}
			c.leave(r)
			eventually(t, "both nodes notice", func() bool {
				nodes[0].check(t, "somebody", at)
				nodes[1].check(t, "somebody", at)
				return !nodes[0].store.Health().Up && !nodes[1].store.Health().Up
			})
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
			if nodes[0].Sharing().Owed == 0 {
				t.Error("nothing is owed")
			}
			c.comeBack(r)
			eventually(t, "nothing is owed", func() bool {
				return nodes[0].store.Health().Up && nodes[1].store.Health().Up && nodes[0].Sharing().Owed+nodes[1].Sharing().Owed == 0
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
	nodes := startNodes(t, r.URL(), 2, enforced(), Options{}, chatguard.ShareExact)
	at := time.Now()
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
	if err := nodes[0].Reset(chatguard.Key{ChannelID: "lobby", UserID: "7"}); err != nil {
		t.Fatal(err)
	}
	r.must("FLUSHALL")
	if v := nodes[1].check(t, "7", at); !v.Allowed {
		t.Errorf("after a reset, and another loss: %+v", v)
	}
}

// What people change on one node is in force on the others.
func TestGuards_Changes(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	nodes := startNodes(t, r.URL(), 2, enforced(), Options{}, chatguard.ShareExact)
	a, b := nodes[0], nodes[1]
	at := time.Now()
	key := chatguard.Key{ChannelID: "lobby", UserID: "7"}
	throttled := func() (v chatguard.Verdict) {
		for v = b.check(t, "7", at); v.Allowed; v = b.check(t, "7", at) {
		}
		for range 20 {
			v = b.check(t, "7", at) // from memory
		}
		return v
	}
	for name, change := range map[string]func() error{
		"reset":  func() error { return a.Reset(key) },
		"grant":  func() error { _, err := a.Grant(key, "burst", 2); return err },
		"exempt": func() error { return a.SetUserOverride(key, chatguard.UserOverride{Exempt: chatguard.AlwaysExempt}) },
		"override": func() error {
			return a.SetUserOverride(key, chatguard.UserOverride{Limits: map[string]chatguard.Override{"burst": {Burst: 100}}})
		},
	} {
		throttled()
		if b.Sharing().FromMemory == 0 {
			t.Fatal("no refusal came from memory")
		}
		if err := change(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		eventually(t, name+" is in force on the other node", func() bool { return b.check(t, "7", at).Allowed })
		if err := a.SetUserOverride(key, chatguard.UserOverride{}); err != nil {
			t.Fatal(err)
		}
	}
	v := throttled()
	if v.EntryID == 0 {
		t.Fatal("the refusal has no entry ID")
	}
	if err := a.SetUserOverride(key, chatguard.UserOverride{Timezone: "Asia/Tokyo"}); err != nil {
		t.Fatal(err)
	}
	found := false
	for user, o := range b.UserOverrides("lobby") {
		found = found || user == "7" && o.Timezone == "Asia/Tokyo"
	}
	if !found {
		t.Error("the other node doesn't list the override")
	}
}

// Rows expire a minute after they have no effect any more; strikes stay until they are forgotten.
func TestGuards_Expiry(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	policy := enforced(chatguard.Limit{Name: "burst", Algorithm: chatguard.TokenBucket, Burst: 2, Refill: time.Second})
	policy.Penalties.ForgetAfter = time.Hour
	nodes := startNodes(t, r.URL(), 1, policy, Options{}, chatguard.ShareExact)
	at := time.Now()
	nodes[0].check(t, "polite", at)
	for range 4 {
		nodes[0].check(t, "struck", at)
	}
	for user, most := range map[string]time.Duration{"polite": time.Minute + 2*time.Second, "struck": time.Hour + time.Minute} {
		ms, err := r.must("PTTL", "cg1:{u:"+user+"}:c:lobby").AsInt64()
		if left := time.Duration(ms) * time.Millisecond; err != nil || left > most || left < most-30*time.Second {
			t.Errorf("the row of %s expires in %v (%v), want about %v", user, left, err, most)
		}
	}
}

// commandCalls returns how often the server has executed a command.
func (r *redisServer) commandCalls(name string) (calls int) {
	r.t.Helper()
	for line := range strings.Lines(mustString(r.t, r.must("INFO", "commandstats"))) {
		if rest, ok := strings.CutPrefix(line, "cmdstat_"+name+":calls="); ok {
			n, _, _ := strings.Cut(rest, ",")
			calls, _ = strconv.Atoi(n)
		}
	}
	return calls
}

// Refusals come from memory: the server hears of one in StrikeEvery.
func TestGuards_RefusalsFromMemory(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	policy := enforced()
	policy.Penalties.StrikeEvery = time.Hour
	nodes := startNodes(t, r.URL(), 1, policy, Options{}, chatguard.ShareExact)
	at := time.Now()
	for range 4 {
		nodes[0].check(t, "7", at)
	}
	before := r.commandCalls("evalsha") + r.commandCalls("get")
	for range 10_000 {
		nodes[0].check(t, "7", at)
	}
	// Others are the node's own records, and one look after ten seconds on a slow machine.
	if calls := r.commandCalls("evalsha") + r.commandCalls("get") - before; calls > 50 {
		t.Errorf("%d commands for 10,000 refusals", calls)
	}
	if got := nodes[0].Sharing().FromMemory; got < 9_900 {
		t.Errorf("%d of 10,000 refusals came from memory", got)
	}
}

// Nodes that decide in memory stay within the bound, and pay back.
func TestGuards_Synchronised(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	policy := enforced(chatguard.Limit{Name: "window", Algorithm: chatguard.DailyWindow, Messages: 100})
	nodes := startNodes(t, r.URL(), 3, policy, Options{Interval: 20 * time.Millisecond}, chatguard.ShareSynchronised)
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

// The rows of 20,000 users take little memory.
func TestGuards_Memory(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	nodes := startNodes(t, r.URL(), 1, enforced(), Options{}, chatguard.ShareExact)
	used := func() int {
		for line := range strings.Lines(mustString(t, r.must("INFO", "memory"))) {
			if n, ok := strings.CutPrefix(line, "used_memory:"); ok {
				bytes, err := strconv.Atoi(strings.TrimSpace(n))
				if err != nil {
					t.Fatal(err)
				}
				return bytes
			}
		}
		t.Fatal("INFO has no used_memory")
		return 0
	}
	at := time.Now()
	send := func(from, to int) {
		var wg sync.WaitGroup
		for w := range 16 {
			wg.Go(func() {
				for u := from + w; u < to; u += 16 {
					nodes[0].check(t, strconv.Itoa(100_000_000+u), at)
				}
			})
		}
		wg.Wait()
	}
	const users = 1<<14 - 100 // the server's table of keys doubles at a power of two
	send(0, users/8)          // the connections have their buffers now
	before := used()
	send(users/8, users)
	each := (used() - before) / (users - users/8)
	t.Logf("%d bytes for each user", each)
	if each > 250 {
		t.Errorf("%d bytes for each user, want at most 250", each)
	}
}

// A user who is deleted begins again on a node that gets no notice, too: the node doesn't give back
// the row that it remembers.
func TestGuards_Deleted(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	policy := enforced(chatguard.Limit{Name: "hours", Algorithm: chatguard.TokenBucket, Burst: 3, Refill: time.Hour})
	s := open(t, r.URL(), Options{}) // without Run it gets no notices
	g, err := chatguard.New(policy, &chatguard.Options{Shared: s})
	if err != nil {
		t.Fatal(err)
	}
	deaf := node{Guard: g, store: s}
	hearing := startNodes(t, r.URL(), 1, policy, Options{}, chatguard.ShareExact)[0]
	at := time.Now()
	for range 2 {
		deaf.check(t, "7", at)
	}
	hearing.check(t, "7", at.Add(-time.Second)) // a node that has seen an earlier row
	if err := hearing.SetUserOverride(chatguard.Key{ChannelID: "lobby", UserID: "8"}, chatguard.UserOverride{Exempt: chatguard.AlwaysExempt}); err != nil {
		t.Fatal(err)
	}
	key := "cg1:{u:7}:c:lobby"
	before, err := r.must("PEXPIRETIME", key).AsInt64()
	if err != nil {
		t.Fatal(err)
	}
	for user, want := range map[string]int{"7": 1, "8": 1, "nobody": 0} {
		if deleted, err := hearing.store.Delete(t.Context(), user); deleted != want || err != nil {
			t.Errorf("%d rows of %s are deleted, %v, want %d", deleted, user, err, want)
		}
	}
	if deleted, err := hearing.store.Delete(t.Context(), "7"); deleted != 0 || err != nil {
		t.Errorf("%d rows are deleted twice, %v", deleted, err)
	}
	for row, err := range hearing.store.Rows(t.Context(), "") {
		t.Errorf("%+v is still there, %v", row, err)
	}
	if left := r.must("PTTL", "cg1:{u:8}:c:lobby"); left.Error() != nil {
		t.Error(left.Error())
	} else if ms, _ := left.AsInt64(); ms <= 0 {
		t.Errorf("the row of an exempt user expires in %d ms, want a week", ms)
	}
	for i := range 3 {
		if v := deaf.check(t, "7", at); !v.Allowed || v.Degraded {
			t.Errorf("message %d after the user was deleted: %+v", i, v)
		}
		if after, err := r.must("PEXPIRETIME", key).AsInt64(); err != nil || after < before {
			t.Errorf("message %d: the row expires at %d (%v), want %d or later", i, after, err, before)
		}
	}
	if v := hearing.check(t, "7", at); v.Allowed {
		t.Error("the fourth message is allowed")
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
	opts := Options{Timeout: time.Second}
	near := startNodes(t, r.URL(), 1, policy, opts, chatguard.ShareExact)[0]
	far := startNodes(t, "redis://"+way.addr, 1, policy, opts, chatguard.ShareExact)[0]
	one := alone(t, policy)
	start := time.Now()
	at := start
	// send sends a user's messages through a node, and returns how many are allowed.
	send := func(n node, user string, messages int, degraded bool) (allowed int) {
		t.Helper()
		for range messages {
			v := n.check(t, user, at)
			if v.Degraded != degraded {
				t.Errorf("user %s at the node %s: degraded %t, want %t", user, n.store.options.Node, v.Degraded, degraded)
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
	eventually(t, "the far node notices", func() bool {
		far.check(t, "somebody", at)
		return !far.store.Health().Up
	})
	allowed := 2
	for round := range 5 {
		at = at.Add(refill)
		allowed += send(near, "7", 4, false) + send(far, "7", 4, true)
		for _, user := range []string{"8", "9"} { // they only use the near node, which stays exact
			got := send(near, user, 5, false)
			for range 5 {
				v, err := one.Check(t.Context(), chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: user}, SentAt: at})
				if err != nil {
					t.Fatal(err)
				}
				if v.Allowed {
					got--
				}
			}
			if got != 0 {
				t.Errorf("round %d: the near node allows %+d messages of user %s", round, got, user)
			}
		}
	}
	if !near.store.Health().Up || near.Sharing().Apart != 0 {
		t.Errorf("the near node: %+v, %+v", near.store.Health(), near.Sharing())
	}
	if far.Sharing().Owed == 0 {
		t.Error("the far node owes nothing")
	}
	way.open()
	eventually(t, "the far node owes nothing", func() bool { return far.store.Health().Up && far.Sharing().Owed == 0 })
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

// A user who is deleted begins again on synchronised nodes, too.
func TestGuards_DeletedSynchronised(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	policy := enforced(chatguard.Limit{Name: "hours", Algorithm: chatguard.TokenBucket, Burst: 3, Refill: time.Hour})
	nodes := startNodes(t, r.URL(), 2, policy, Options{Interval: 20 * time.Millisecond}, chatguard.ShareSynchronised)
	at := time.Now()
	for range 5 {
		nodes[0].check(t, "7", at)
	}
	explain := func(n node) chatguard.Explanation {
		e, err := n.Explain(chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "7"}, SentAt: at})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	eventually(t, "the row is stored", func() bool {
		deleted, err := nodes[1].store.Delete(t.Context(), "7")
		if err != nil {
			t.Fatal(err)
		}
		return deleted == 1
	})
	eventually(t, "the node has forgotten the user", func() bool {
		e := explain(nodes[0])
		return e.Limits[0].Used == 0 && e.Strikes == 0
	})
	for i, n := range nodes {
		if v := n.check(t, "7", at); !v.Allowed {
			t.Errorf("node %d: %+v", i, v)
		}
	}
}
