package sharing_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/shared"
)

// Before an exchange, each node decides by itself; after it, all know what was spent on any.
func TestSynchronised_Exchange(t *testing.T) {
	server := newServer(t, shared.Synchronised, sharedPolicy())
	a, b := server.join(), server.join()
	if got := send(t, a, 2) + send(t, b, 2); got != 4 {
		t.Fatalf("%d of 4 messages are allowed before the exchange, want all", got)
	}
	if server.swaps != 0 {
		t.Errorf("%d swaps before the exchange", server.swaps)
	}
	server.exchange()
	checkUsed := func(n *node, used int, wait time.Duration) {
		t.Helper()
		e := explain(t, n, "7")
		for _, l := range e.Limits {
			if l.Used != used {
				t.Errorf("%s: %d used, want %d", l.Name, l.Used, used)
			}
		}
		if v := e.Verdict; v.Allowed || v.RetryAfter != wait {
			t.Errorf("%+v, want a wait of %v", v, wait)
		}
	}
	checkUsed(b, 4, 8*time.Second) // one message too many is paid back
	if got := send(t, a, 2); got != 1 {
		t.Errorf("%d messages are allowed on the node that has exchanged first, want 1: it has used 2 of 3", got)
	}
	server.exchange()
	checkUsed(a, 5, 12*time.Second)
	if got := a.counts(); got.Overdrawn != 1 || got.Pending != 0 {
		t.Errorf("%+v, want one message overdrawn", got)
	}
	swaps := server.swaps
	server.exchange()
	if server.swaps != swaps {
		t.Errorf("%d swaps although nothing was spent", server.swaps-swaps)
	}
}

// What people change is in force on the node at once, and on the others after their next exchange.
func TestSynchronised_Changes(t *testing.T) {
	server := newServer(t, shared.Synchronised, enforced())
	a, b := server.join(), server.join()
	send(t, b, 1)
	send(t, a, 3)
	server.exchange()
	if send(t, a, 1)+send(t, b, 1) != 0 {
		t.Fatal("allowed although the burst is used up")
	}
	must(t, a.Reset(t.Context(), seven))
	if send(t, a, 1) != 1 {
		t.Error("not allowed on the node that reset the user")
	}
	server.exchange()
	if got := send(t, b, 3); got != 2 {
		t.Errorf("%d messages are allowed on the other node after the exchange, want 2", got)
	}
	must(t, b.SetUserOverride(t.Context(), seven, exempt))
	server.exchange()
	if got := send(t, a, 5); got != 5 {
		t.Errorf("%d of 5 messages of an exempt user are allowed on the other node", got)
	}
	a.setAway(true)
	if err := a.Reset(t.Context(), seven); err == nil {
		t.Error("a reset succeeds while the store is away")
	}
	if v := check(t, a, "8"); !v.Allowed || v.Degraded {
		t.Errorf("a message while the store is away: %+v", v)
	}
}

// A node that starts later knows overrides before the user's first message.
func TestSynchronised_LaterNode(t *testing.T) {
	server := newServer(t, shared.Synchronised, enforced())
	first := server.join()
	must(t, first.SetUserOverride(t.Context(), seven, chatguard.UserOverride{Limits: map[string]chatguard.Override{"burst": {Burst: 9}}}))
	first.exchange()
	later := server.join()
	check(t, later, "somebody else")
	later.exchange()
	if got := send(t, later, 12); got != 9 {
		t.Errorf("%d messages are allowed, want 9", got)
	}
}

// While the store is away, everything is pending, and a lost reply isn't counted twice.
func TestSynchronised_LostReply(t *testing.T) {
	server := newServer(t, shared.Synchronised, dayOnly())
	a, b := server.join(), server.join()
	send(t, a, 5)
	a.after = func() error { return errReplyLost }
	if err := a.Shared().Exchange(t.Context()); err == nil {
		t.Error("no error although the reply was lost")
	}
	send(t, a, 5)
	a.after = nil
	server.exchange()
	if got := used(t, b); got != 1 {
		t.Errorf("%d messages count on the other node before it has exchanged, want 1", got)
	}
	server.exchange()
	send(t, a, 1)
	server.exchange()
	if got := used(t, a); got != 13 {
		t.Errorf("%d messages count, want 13", got)
	}
}

// joinAll returns so many new nodes.
func (f *fakeServer) joinAll(n int) []*node {
	f.t.Helper()
	for range n {
		f.join()
	}
	return f.nodes
}

// offer sends messages of user 7 to each node at every step, and lets all exchange once in an
// interval. It returns how many are allowed.
func (f *fakeServer) offer(messages int, step, interval, length time.Duration) (allowed int) {
	f.t.Helper()
	next := interval
	for at := time.Duration(0); at < length; {
		for _, n := range f.nodes {
			allowed += send(f.t, n, messages)
		}
		f.now = f.now.Add(step)
		if at += step; at >= next {
			f.exchange()
			next += interval
		}
	}
	return allowed
}

// The overshoot stays within the bounds of docs/scaling.md, for every node offering as much as it
// can. Payback keeps the sum over many windows near the exact number.
func TestSynchronised_Bounds(t *testing.T) {
	for _, nodes := range []int{2, 4} {
		for _, interval := range []time.Duration{100 * time.Millisecond, time.Second} {
			t.Run(fmt.Sprintf("%d nodes, %v", nodes, interval), func(t *testing.T) {
				const capacity, windows, every = 50, 20, 2 * time.Second
				server := newServer(t, shared.Synchronised, chatguard.Policy{Mode: chatguard.ModeEnforce, Limits: []chatguard.Limit{chatguard.FixedWindowLimit("window", capacity, every)}})
				server.joinAll(nodes)
				allowed := server.offer(1, 40*time.Millisecond, interval, windows*every) // 25 a second on each node
				exact := windows * capacity
				if bound := exact + (nodes-1)*capacity; allowed < exact*9/10 || allowed > bound {
					t.Errorf("%d messages are allowed, want about %d, and %d at most", allowed, exact, bound)
				}
				var overdrawn int64
				for _, n := range server.nodes {
					overdrawn += n.counts().Overdrawn
				}
				if overdrawn == 0 && interval == time.Second {
					t.Error("no overshoot is counted")
				}
				t.Logf("%d of %d exact: %+.1f %%, %d overdrawn", allowed, exact, 100*float64(allowed-exact)/float64(exact), overdrawn)
			})
		}
	}
}

// What was spent in a channel that is forgotten before the exchange is still exchanged, and its
// overrides are looked for again when it comes back.
func TestSynchronised_ForgetChannel(t *testing.T) {
	server := newServer(t, shared.Synchronised, enforced())
	a, b := server.join(), server.join()
	if got := send(t, a, 3); got != 3 {
		t.Fatalf("%d of 3 messages are allowed", got)
	}
	a.ForgetChannel("c")
	server.exchange()
	send(t, b, 1) // one too many
	server.exchange()
	send(t, b, 1)
	server.exchange()
	if got := send(t, b, 1); got != 0 {
		t.Error("what was spent in the forgotten channel doesn't count")
	}
	a.ForgetChannel("c")
	must(t, b.SetUserOverride(t.Context(), eight, exempt))
	a.exchange()
	a.ForgetChannel("c")
	check(t, a, "9") // the channel is back
	server.exchange()
	if v := check(t, a, "8"); !v.Exempt {
		t.Errorf("%+v, want the override in force in the channel that came back", v)
	}
}

// Exchanges at the same time share the work: each row is swapped once.
func TestSynchronised_ExchangesTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, shared.Synchronised, enforced())
		node := server.join()
		node.before = takes(time.Millisecond)
		const users = 2000
		checkEach(t, node, users)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(node.exchange)
		}
		wg.Wait()
		if got := node.counts(); got.Pending != 0 || server.writes != users || len(server.rows) != users {
			t.Errorf("%d swaps of %d rows for %d users, %+v, want one each", server.writes, len(server.rows), users, got)
		}
	})
}

// A change by hand while messages pass doesn't hide them from the table, also if the store is away
// from then on.
func TestSynchronised_SpentDuringASwap(t *testing.T) {
	node := newServer(t, shared.Synchronised, dayOnly()).join()
	send(t, node, 2)
	node.exchange()
	node.after = onceThen(func() error {
		send(t, node, 5)
		return node.Shared().Exchange(t.Context())
	})
	_, err := node.Grant(t.Context(), seven, "", 1)
	must(t, err)
	node.setAway(true)
	if got := explain(t, node, "7").Limits[0].Used; got != 7 {
		t.Errorf("%d messages are used while the store is away, want 7", got)
	}
	node.setAway(false)
	node.exchange()
	if got := explain(t, node, "7").Limits[0].Used; got != 7 {
		t.Errorf("%d messages are used when it is back, want 7", got)
	}
}

// An Exchange tries each row once, even if that fails.
func TestSynchronised_TriedOnce(t *testing.T) {
	node := newServer(t, shared.Synchronised, dayOnly()).join()
	send(t, node, 1)
	node.exchange()
	checkEach(t, node, 600)
	tries := 0
	node.before = func(context.Context) error { tries++; return errReplyLost }
	if err := node.Shared().Exchange(t.Context()); !errors.Is(err, shared.ErrUnconfirmed) {
		t.Errorf("%v, want ErrUnconfirmed", err)
	}
	if tries != 3 {
		t.Errorf("the store was asked %d times for 600 rows, want three groups", tries)
	}
}

// A refund, a pardon and a reset count what the store hasn't seen yet.
func TestSynchronised_ChangesBeforeExchange(t *testing.T) {
	node := newServer(t, shared.Synchronised, sharedPolicy()).join()
	send(t, node, 3)
	must(t, node.Reset(t.Context(), seven))
	if got := send(t, node, 2); got != 2 {
		t.Errorf("%d of two messages are allowed after a reset", got)
	}
	must(t, node.Refund(t.Context(), check(t, node, "7")))
	if got := send(t, node, 2); got != 1 {
		t.Errorf("%d of two messages are allowed after a refund, want one", got)
	}
	if done, err := node.Pardon(t.Context(), check(t, node, "7")); err != nil || !done {
		t.Errorf("a pardon of the last message: %t, %v", done, err)
	}
}

// Verdicts are degraded from an exchange that finds the store away, even if nothing is pending, to
// one that succeeds. Another error doesn't tell.
func TestSynchronised_Degraded(t *testing.T) {
	node := newServer(t, shared.Synchronised, dayOnly()).join()
	moderator := chatguard.Message{ChannelID: "c", User: chatguard.User{ID: "1", Roles: chatguard.Roles{chatguard.RoleModerator}}}
	if judge(t, node, moderator).Degraded {
		t.Error("a verdict is degraded before an exchange")
	}
	refused := errors.New("refused")
	for _, c := range []struct {
		away     bool
		reply    error
		want     error // of the exchange
		degraded bool
	}{{true, nil, shared.ErrAway, true}, {false, refused, refused, true}, {false, nil, nil, false}, {true, nil, shared.ErrAway, true}, {false, nil, nil, false}} {
		node.setAway(c.away)
		node.before = func(context.Context) error { return c.reply }
		if err := node.Shared().Exchange(t.Context()); !errors.Is(err, c.want) {
			t.Errorf("%+v: Exchange: %v", c, err)
		}
		if all, v := judgeAll(t, node, []chatguard.Message{message("7")})[0], check(t, node, "7"); all.Degraded != c.degraded || v.Degraded != c.degraded {
			t.Errorf("%+v: %+v and %+v", c, all, v)
		}
	}
}

// One node allows no more than its limit, however many exchanges run at the same time.
func TestSynchronised_ExchangesWhileChecking(t *testing.T) {
	node := newServer(t, shared.Synchronised, dayOnly()).join()
	const users = 500
	var allowed [users]atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	var exchanging, checking sync.WaitGroup
	for range 3 {
		exchanging.Go(func() {
			for ctx.Err() == nil {
				node.exchange()
			}
		})
	}
	for range 4 {
		checking.Go(func() {
			for range 100 {
				for user := range users {
					if check(t, node, fmt.Sprint(user)).Allowed {
						allowed[user].Add(1)
					}
				}
			}
		})
	}
	checking.Wait()
	stop()
	exchanging.Wait()
	for user := range allowed {
		if n := allowed[user].Load(); n != 300 {
			t.Fatalf("user %d: %d messages are allowed, want 300", user, n)
		}
	}
}

// A limit that several users share gives no strikes, as on a node of its own.
func TestSynchronised_SharedLimitStrikes(t *testing.T) {
	node := newServer(t, shared.Synchronised, with(enforced(), per(chatguard.PerChannel, chatguard.FixedWindowLimit("room", 1, time.Minute)))).join()
	check(t, node, "8")
	if v := check(t, node, "7"); v.Allowed || v.Limit != "room" || v.NewStrike || v.Strikes != 0 {
		t.Errorf("%+v", v)
	}
}

// A reset isn't undone by what the user sends on another node before the next exchange.
func TestSynchronised_ResetStrikes(t *testing.T) {
	for _, sends := range []int{0, 1} {
		server := newServer(t, shared.Synchronised, enforced())
		a, b := server.join(), server.join()
		for range 3 {
			send(t, a, 8)
			server.now = server.now.Add(11 * time.Second)
		}
		server.exchange()
		server.exchange()
		server.now = server.now.Add(13 * time.Second)
		must(t, b.Reset(t.Context(), seven))
		server.now = server.now.Add(100 * time.Millisecond)
		send(t, a, sends)
		server.exchange()
		server.exchange()
		for i, n := range server.nodes {
			if got := explain(t, n, "7").Strikes; got != 0 {
				t.Errorf("with %d messages before the exchange, node %d has %d strikes, want none", sends, i, got)
			}
		}
	}
}

// Throttled messages count in limits that count them, in every mode.
func TestShared_CountThrottled(t *testing.T) {
	policy := chatguard.Policy{Mode: chatguard.ModeEnforce, Limits: []chatguard.Limit{
		chatguard.FixedWindowLimit("quick", 2, 10*time.Second),
		{Name: "hour", Algorithm: chatguard.FixedWindow, Messages: 10, Every: time.Hour, CountThrottled: true},
	}}
	for _, mode := range bothModes {
		server := newServer(t, mode, policy)
		node, alone := server.join(), mustNew(t, policy, &chatguard.Options{Now: server.clock})
		for range 10 {
			if got, want := send(t, node, 5), send(t, alone, 5); got != want {
				t.Errorf("%s: %d allowed, alone %d", mode, got, want)
			}
			server.now = server.now.Add(10 * time.Second)
			server.exchange()
		}
	}
}

// What a node allows after it has handed over its messages, and before it learns what another one
// has allowed, is overdrawn, too.
func TestSynchronised_OverdrawnDuringASwap(t *testing.T) {
	server := newServer(t, shared.Synchronised, dayOnly())
	a, b := server.join(), server.join()
	send(t, b, 290)
	b.exchange()
	send(t, a, 1)
	calls := 0
	a.after = func() error {
		if calls++; calls == 2 { // the first swap finds the row of b
			send(t, a, 19)
		}
		return nil
	}
	a.exchange()
	a.exchange()
	if got := a.counts().Overdrawn; got != 10 {
		t.Errorf("%d messages are overdrawn, want 10", got)
	}
}
