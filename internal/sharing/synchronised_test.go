package sharing_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/limitinfo"
	"github.com/chatguard/chatguard/shared"
)

// synchronised returns Guards that share a server with shared.Synchronised, and exchanges with all.
func synchronised(t *testing.T, n int, policy chatguard.Policy, clock func() time.Time) (server *fakeServer, nodes []*fakeShared, guards []*chatguard.Guard, exchange func()) {
	t.Helper()
	server = newFakeServer()
	for i := range n {
		node := &fakeShared{server: server, number: uint8(i), clock: clock, timeout: time.Minute}
		guard := mustNew(t, policy, &chatguard.Options{Shared: node, SharedMode: shared.Synchronised, TextKey: testKey})
		server.guards = append(server.guards, guard)
		nodes, guards = append(nodes, node), append(guards, guard)
	}
	return server, nodes, guards, func() {
		for _, g := range guards {
			must(t, g.Shared().Exchange(t.Context()))
		}
	}
}

// send sends messages of user 7, and returns how many are allowed.
func send(t *testing.T, g *chatguard.Guard, n int) (allowed int) {
	t.Helper()
	for range n {
		if check(t, g, "7").Allowed {
			allowed++
		}
	}
	return allowed
}

// Before an exchange, each node decides by itself; after it, all know what was spent on any.
func TestSynchronised_Exchange(t *testing.T) {
	now := sharedStart
	server, _, guards, exchange := synchronised(t, 2, sharedPolicy(), func() time.Time { return now })
	a, b := guards[0], guards[1]
	if got := send(t, a, 2) + send(t, b, 2); got != 4 {
		t.Fatalf("%d of 4 messages are allowed before the exchange, want all", got)
	}
	if server.swaps != 0 {
		t.Errorf("%d swaps before the exchange", server.swaps)
	}
	exchange()
	explain := func(g *chatguard.Guard, used int, wait time.Duration) {
		t.Helper()
		e, err := limitinfo.Explain(t.Context(), g, chatguard.Message{ChannelID: "c", User: chatguard.User{ID: "7"}})
		must(t, err)
		for _, l := range e.Limits {
			if l.Used != used {
				t.Errorf("%s: %d used, want %d", l.Name, l.Used, used)
			}
		}
		if v := e.Verdict; v.Allowed || v.RetryAfter != wait {
			t.Errorf("%+v, want a wait of %v", v, wait)
		}
	}
	explain(b, 4, 8*time.Second) // one message too many is paid back
	if got := send(t, a, 2); got != 1 {
		t.Errorf("%d messages are allowed on the node that has exchanged first, want 1: it has used 2 of 3", got)
	}
	exchange()
	explain(a, 5, 12*time.Second)
	if got := a.Shared().Counts(); got.Overdrawn != 1 || got.Pending != 0 {
		t.Errorf("%+v, want one message overdrawn", got)
	}
	swaps := server.swaps
	exchange()
	if server.swaps != swaps {
		t.Errorf("%d swaps although nothing was spent", server.swaps-swaps)
	}
}

// What people change is in force on the node at once, and on the others after their next exchange.
func TestSynchronised_Changes(t *testing.T) {
	_, nodes, guards, exchange := synchronised(t, 2, enforcedDefault(), sharedNoon)
	a, b := guards[0], guards[1]
	key := chatguard.Key{ChannelID: "c", UserID: "7"}
	send(t, b, 1)
	send(t, a, 3)
	exchange()
	if send(t, a, 1)+send(t, b, 1) != 0 {
		t.Fatal("allowed although the burst is used up")
	}
	must(t, a.Reset(t.Context(), key))
	if send(t, a, 1) != 1 {
		t.Error("not allowed on the node that reset the user")
	}
	exchange()
	if got := send(t, b, 3); got != 2 {
		t.Errorf("%d messages are allowed on the other node after the exchange, want 2", got)
	}
	must(t, b.SetUserOverride(t.Context(), key, chatguard.UserOverride{Exempt: chatguard.ExemptAlways}))
	exchange()
	if got := send(t, a, 5); got != 5 {
		t.Errorf("%d of 5 messages of an exempt user are allowed on the other node", got)
	}
	nodes[0].setAway(true)
	if err := a.Reset(t.Context(), key); err == nil {
		t.Error("a reset succeeds while the store is away")
	}
	if v := check(t, a, "8"); !v.Allowed || v.Degraded {
		t.Errorf("a message while the store is away: %+v", v)
	}
}

// A node that starts later knows overrides before the user's first message.
func TestSynchronised_LaterNode(t *testing.T) {
	server, _, guards, exchange := synchronised(t, 1, enforcedDefault(), sharedNoon)
	o := chatguard.UserOverride{Limits: map[string]chatguard.Override{"burst": {Burst: 9}}}
	must(t, guards[0].SetUserOverride(t.Context(), chatguard.Key{ChannelID: "c", UserID: "7"}, o))
	exchange()
	later := mustNew(t, enforcedDefault(), &chatguard.Options{
		Shared:     &fakeShared{server: server, number: 9, clock: sharedNoon, timeout: time.Minute},
		SharedMode: shared.Synchronised,
	})
	check(t, later, "somebody else")
	must(t, later.Shared().Exchange(t.Context()))
	if got := send(t, later, 12); got != 9 {
		t.Errorf("%d messages are allowed, want 9", got)
	}
}

// While the store is away, everything is pending, and a lost reply isn't counted twice.
func TestSynchronised_LostReply(t *testing.T) {
	policy := enforcedDefault()
	policy.Limits = policy.Limits[1:]
	_, nodes, guards, exchange := synchronised(t, 2, policy, sharedNoon)
	send(t, guards[0], 5)
	nodes[0].after = func() error { return errReplyLost }
	if err := guards[0].Shared().Exchange(t.Context()); err == nil {
		t.Error("no error although the reply was lost")
	}
	send(t, guards[0], 5)
	nodes[0].after = nil
	exchange()
	if v := check(t, guards[1], "7"); v.Remaining != 299 {
		t.Errorf("%d remain on the other node before it has exchanged, want 299", v.Remaining)
	}
	exchange()
	send(t, guards[0], 1)
	exchange()
	if v := check(t, guards[0], "7"); v.Remaining != 300-13 {
		t.Errorf("%d remain, want %d", v.Remaining, 300-13)
	}
}

// The overshoot stays within the bounds of docs/scaling.md, for every node offering as much as it
// can. Payback keeps the sum over many windows near the exact number.
func TestSynchronised_Bounds(t *testing.T) {
	for _, c := range []struct {
		nodes    int
		interval time.Duration
	}{{2, 100 * time.Millisecond}, {2, time.Second}, {4, 100 * time.Millisecond}, {4, time.Second}} {
		t.Run(fmt.Sprintf("%d nodes, %v", c.nodes, c.interval), func(t *testing.T) {
			const capacity, windows, every = 50, 20, 2 * time.Second
			policy := chatguard.Policy{Mode: chatguard.ModeEnforce, Limits: []chatguard.Limit{
				{Name: "window", Algorithm: chatguard.FixedWindow, Messages: capacity, Every: every},
			}}
			now := sharedStart
			_, _, guards, exchange := synchronised(t, c.nodes, policy, func() time.Time { return now })
			allowed, next := 0, sharedStart.Add(c.interval)
			for now.Before(sharedStart.Add(windows * every)) {
				for _, g := range guards {
					allowed += send(t, g, 1)
				}
				if now = now.Add(40 * time.Millisecond); !now.Before(next) { // 25 a second on each node
					exchange()
					next = next.Add(c.interval)
				}
			}
			exact := windows * capacity
			if bound := exact + (c.nodes-1)*capacity; allowed < exact*9/10 || allowed > bound {
				t.Errorf("%d messages are allowed, want about %d, and %d at most", allowed, exact, bound)
			}
			var overdrawn int64
			for _, g := range guards {
				overdrawn += g.Shared().Counts().Overdrawn
			}
			if overdrawn == 0 && c.interval == time.Second {
				t.Error("no overshoot is counted")
			}
			t.Logf("%d of %d exact: %+.1f %%, %d overdrawn", allowed, exact, 100*float64(allowed-exact)/float64(exact), overdrawn)
		})
	}
	t.Run("bucket", func(t *testing.T) {
		policy := enforcedDefault()
		policy.Limits = policy.Limits[:1] // 3, one per 4 s
		now := sharedStart
		_, _, guards, exchange := synchronised(t, 4, policy, func() time.Time { return now })
		allowed := 0
		const span, interval = 60 * time.Second, time.Second
		for now.Before(sharedStart.Add(span)) {
			for _, g := range guards {
				allowed += send(t, g, 5)
			}
			if now = now.Add(100 * time.Millisecond); now.Sub(sharedStart)%interval == 0 {
				exchange()
			}
		}
		// capacity + span ÷ refill + (nodes − 1) × (capacity + interval ÷ refill)
		if bound := 3 + 15 + 3*(3+1); allowed < 3+14 || allowed > bound {
			t.Errorf("%d messages are allowed in a minute, want %d at most", allowed, bound)
		}
		t.Logf("%d allowed, 18 exact", allowed)
	})
}

// What was spent in a channel that is forgotten before the exchange is still exchanged, and its
// overrides are looked for again when it comes back.
func TestSynchronised_ForgetChannel(t *testing.T) {
	_, _, guards, exchange := synchronised(t, 2, enforcedDefault(), sharedNoon)
	a, b := guards[0], guards[1]
	if got := send(t, a, 3); got != 3 {
		t.Fatalf("%d of 3 messages are allowed", got)
	}
	a.ForgetChannel("c")
	exchange()
	send(t, b, 1) // one too many
	exchange()
	send(t, b, 1)
	exchange()
	if got := send(t, b, 1); got != 0 {
		t.Error("what was spent in the forgotten channel doesn't count")
	}
	a.ForgetChannel("c")
	key := chatguard.Key{ChannelID: "c", UserID: "8"}
	must(t, b.SetUserOverride(t.Context(), key, chatguard.UserOverride{Exempt: chatguard.ExemptAlways}))
	a.Shared().Exchange(t.Context())
	a.ForgetChannel("c")
	check(t, a, "9") // the channel is back
	exchange()
	if v := check(t, a, "8"); !v.Exempt {
		t.Errorf("%+v, want the override in force in the channel that came back", v)
	}
}

// Exchanges at the same time share the work: each row is swapped once.
func TestSynchronised_ExchangesTogether(t *testing.T) {
	server, nodes, guards, _ := synchronised(t, 1, enforcedDefault(), sharedNoon)
	nodes[0].before = func(context.Context) error { time.Sleep(time.Millisecond); return nil }
	const users = 2000
	checkEach(t, guards[0], users)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := guards[0].Shared().Exchange(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := guards[0].Shared().Counts(); got.Pending != 0 || server.writes != users || len(server.rows) != users {
		t.Errorf("%d swaps of %d rows for %d users, %+v, want one each", server.writes, len(server.rows), users, got)
	}
}

// After a gap in the notices, all rows are read again, and all overrides looked for.
func TestSynchronised_NoticesMissed(t *testing.T) {
	server, _, guards, exchange := synchronised(t, 2, enforcedDefault(), sharedNoon)
	a, b := guards[0], guards[1]
	send(t, b, 4)
	exchange()
	exchange()
	server.guards = nil // nobody is told
	must(t, a.Reset(t.Context(), chatguard.Key{ChannelID: "c", UserID: "7"}))
	must(t, a.SetUserOverride(t.Context(), chatguard.Key{ChannelID: "c", UserID: "8"}, chatguard.UserOverride{Exempt: chatguard.ExemptAlways}))
	exchange()
	if send(t, b, 1) != 0 || check(t, b, "8").Exempt {
		t.Error("the changes are known without a notice: the test proves nothing")
	}
	b.Shared().InvalidateAll()
	exchange()
	if v := check(t, b, "8"); send(t, b, 1) != 1 || !v.Exempt {
		t.Errorf("after a notice about all rows: %+v, want the reset and the override in force", v)
	}
}

// A change by hand while messages pass doesn't hide them from the table, also if the store is away
// from then on.
func TestSynchronised_SpentDuringASwap(t *testing.T) {
	_, nodes, guards, exchange := synchronised(t, 1, dayOnly(), sharedNoon)
	g := guards[0]
	send(t, g, 2)
	exchange()
	nodes[0].after = onceThen(func() error {
		send(t, g, 5)
		return g.Shared().Exchange(t.Context())
	})
	if _, err := g.Grant(t.Context(), chatguard.Key{ChannelID: "c", UserID: "7"}, "", 1); err != nil {
		t.Fatal(err)
	}
	nodes[0].setAway(true)
	used := func() int {
		e, err := limitinfo.Explain(t.Context(), g, chatguard.Message{ChannelID: "c", User: chatguard.User{ID: "7"}})
		must(t, err)
		return e.Limits[0].Used
	}
	if got := used(); got != 7 {
		t.Errorf("%d messages are used while the store is away, want 7", got)
	}
	nodes[0].setAway(false)
	exchange()
	if got := used(); got != 7 {
		t.Errorf("%d messages are used when it is back, want 7", got)
	}
}

// An Exchange tries each row once, even if that fails.
func TestSynchronised_TriedOnce(t *testing.T) {
	_, nodes, guards, exchange := synchronised(t, 1, dayOnly(), sharedNoon)
	send(t, guards[0], 1)
	exchange()
	for i := range 600 {
		check(t, guards[0], strconv.Itoa(i))
	}
	tries := 0
	nodes[0].before = func(context.Context) error { tries++; return errReplyLost }
	if err := guards[0].Shared().Exchange(t.Context()); !errors.Is(err, shared.ErrUnconfirmed) {
		t.Errorf("%v, want ErrUnconfirmed", err)
	}
	if tries != 3 {
		t.Errorf("the store was asked %d times for 600 rows, want three groups", tries)
	}
}

// A refund, a pardon and a reset count what the store hasn't seen yet.
func TestSynchronised_ChangesBeforeExchange(t *testing.T) {
	_, _, guards, _ := synchronised(t, 1, sharedPolicy(), sharedNoon)
	g := guards[0]
	send(t, g, 3)
	must(t, g.Reset(t.Context(), chatguard.Key{ChannelID: "c", UserID: "7"}))
	if got := send(t, g, 2); got != 2 {
		t.Errorf("%d of two messages are allowed after a reset", got)
	}
	must(t, g.Refund(t.Context(), check(t, g, "7")))
	if got := send(t, g, 2); got != 1 {
		t.Errorf("%d of two messages are allowed after a refund, want one", got)
	}
	if done, err := g.Pardon(t.Context(), check(t, g, "7")); err != nil || !done {
		t.Errorf("a pardon of the last message: %t, %v", done, err)
	}
}

// Verdicts are degraded from an exchange that finds the store away, even if nothing is pending, to
// one that succeeds. Another error doesn't tell.
func TestSynchronised_Degraded(t *testing.T) {
	_, nodes, guards, exchange := synchronised(t, 1, enforcedDefault(), sharedNoon)
	node, g := nodes[0], guards[0]
	moderator := chatguard.Message{ChannelID: "c", User: chatguard.User{ID: "1", Roles: chatguard.Roles{chatguard.RoleModerator}}}
	if v, err := g.Check(t.Context(), moderator); err != nil || v.Degraded {
		t.Errorf("before an exchange: %+v, %v", v, err)
	}
	node.setAway(true)
	if err := g.Shared().Exchange(t.Context()); !errors.Is(err, shared.ErrAway) || !check(t, g, "7").Degraded {
		t.Errorf("the store is away: %v, and verdicts aren't degraded", err)
	}
	node.setAway(false)
	node.before = func(context.Context) error { return errors.New("refused") }
	if err := g.Shared().Exchange(t.Context()); err == nil || !check(t, g, "7").Degraded {
		t.Errorf("the store refuses: %v, and verdicts aren't degraded any more", err)
	}
	node.before = nil
	if exchange(); check(t, g, "7").Degraded {
		t.Error("verdicts are degraded after an exchange")
	}
}

// A notice during a conflict makes the next exchange read the row again.
func TestSynchronised_NoticeDuringAConflict(t *testing.T) {
	_, nodes, guards, exchange := synchronised(t, 2, enforcedDefault(), sharedNoon)
	a, b := guards[0], guards[1]
	key := chatguard.Key{ChannelID: "c", UserID: "7"}
	send(t, b, 4)
	exchange()
	exchange()
	b.Shared().Invalidate(key.ChannelID, key.UserID)
	nodes[1].after = onceThen(func() error { return a.Reset(t.Context(), key) })
	exchange()
	exchange()
	if send(t, b, 1) != 1 {
		t.Errorf("the reset isn't known two exchanges later: %+v", b.Shared().Counts())
	}
}

// One node allows no more than its limit, however many exchanges run at the same time.
func TestSynchronised_ExchangesWhileChecking(t *testing.T) {
	now := sharedStart
	_, _, guards, _ := synchronised(t, 1, dayOnly(), func() time.Time { return now })
	const users = 500
	var allowed [users]atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	var exchanging, checking sync.WaitGroup
	for range 3 {
		exchanging.Go(func() {
			for ctx.Err() == nil {
				if err := guards[0].Shared().Exchange(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 4 {
		checking.Go(func() {
			for range 100 {
				for user := range users {
					if check(t, guards[0], fmt.Sprint(user)).Allowed {
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
	policy := enforcedDefault()
	room := chatguard.FixedWindowLimit("room", 1, time.Minute)
	room.Per = chatguard.PerChannel
	policy.Limits = append(policy.Limits, room)
	_, _, guards, _ := synchronised(t, 1, policy, sharedNoon)
	check(t, guards[0], "8")
	if v := check(t, guards[0], "7"); v.Allowed || v.Limit != "room" || v.NewStrike || v.Strikes != 0 {
		t.Errorf("%+v", v)
	}
}
