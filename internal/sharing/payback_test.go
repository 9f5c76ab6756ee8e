package sharing_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/limitinfo"
	"github.com/chatguard/chatguard/shared"
)

// When the store is back, each node pays what it has allowed. A node that was the first to pay
// doesn't refuse by the row as it was then.
func TestShared_PaybackIsNoticed(t *testing.T) {
	server := newFakeServer()
	now := sharedStart
	clock := func() time.Time { return now }
	node1, guard1 := server.connect(enforcedDefault(), clock)
	node2, guard2 := server.connect(enforcedDefault(), clock)
	node1.setAway(true)
	node2.setAway(true)
	for range 3 {
		if v1, v2 := check(t, guard1, "7"), check(t, guard2, "7"); !v1.Allowed || !v2.Allowed {
			t.Fatal("a node alone refuses one of three messages")
		}
	}
	node1.setAway(false)
	node2.setAway(false)
	if v := check(t, guard1, "7"); v.Allowed || v.RetryAfter != 4*time.Second {
		t.Errorf("the first to pay: %+v, want 4 s", v)
	}
	now = now.Add(time.Second)
	for range 2 {
		if v := check(t, guard2, "7"); v.Allowed || v.RetryAfter != 15*time.Second {
			t.Errorf("the second to pay: %+v, want 15 s", v)
		}
		if v := check(t, guard1, "7"); v.Allowed || v.RetryAfter != 15*time.Second {
			t.Errorf("then the first: %+v, want 15 s", v)
		}
	}
}

// A node that writes lost rows again keeps what is pending.
func TestShared_HealKeepsDebts(t *testing.T) {
	server := newFakeServer()
	now := sharedNoon()
	node := &fakeShared{server: server, clock: func() time.Time { return now }, timeout: time.Minute}
	guard := mustNew(t, enforcedDefault(), &chatguard.Options{Shared: node, SharedRows: 1280})
	checkEach(t, guard, 2000)
	node.setAway(true)
	for user := range 40 {
		check(t, guard, fmt.Sprint("away ", user))
	}
	guard.Shared().Heal()
	if s := guard.Shared().Counts(); s.Lost != 0 || s.Pending != 40 {
		t.Errorf("%+v, want 40 pending rows", s)
	}
	node.setAway(false)
	for _, rows := range []int{2000, 2040} { // while rows are restored, and afterwards
		if err := guard.Shared().Exchange(t.Context()); err != nil || guard.Shared().Counts().Pending != 2040-rows || len(server.rows) != rows {
			t.Errorf("%v, %+v, %d rows in the store, want %d", err, guard.Shared().Counts(), len(server.rows), rows)
		}
		now = now.Add(time.Second)
	}
}

// With shared.Synchronised, verdicts are Degraded from the first exchange that finds the store
// away.
func TestSynchronised_DegradedWhileAway(t *testing.T) {
	_, nodes, guards, _ := synchronised(t, 1, enforcedDefault(), sharedNoon)
	m := chatguard.Message{ChannelID: "c", User: chatguard.User{ID: "7"}}
	for _, away := range []bool{true, false} {
		check(t, guards[0], "7")
		nodes[0].setAway(away)
		if err := guards[0].Shared().Exchange(t.Context()); errors.Is(err, shared.ErrAway) != away {
			t.Errorf("away %v: %v", away, err)
		}
		var all [1]chatguard.Verdict
		must(t, guards[0].CheckAll(t.Context(), []chatguard.Message{m}, all[:]))
		if v := check(t, guards[0], "7"); v.Degraded != away || all[0].Degraded != away {
			t.Errorf("away %v: %+v and %+v", away, v, all[0])
		}
	}
}

// All rows are read again after a gap in the notices, also if limits of all scopes share a flight.
func TestSynchronised_InvalidateAllScopes(t *testing.T) {
	policy := enforcedDefault()
	for _, per := range []chatguard.Scope{chatguard.PerUserEverywhere, chatguard.PerChannel, chatguard.PerEverywhere} {
		policy.Limits = append(policy.Limits, chatguard.Limit{Name: per.String(), Per: per, Algorithm: chatguard.FixedWindow, Messages: 100, Every: time.Hour})
	}
	server, _, guards, exchange := synchronised(t, 1, policy, sharedNoon)
	check(t, guards[0], "7")
	exchange()
	guards[0].Shared().InvalidateAll()
	exchange()
	if s := guards[0].Shared().Counts(); s.Pending != 0 || s.Exchanged != 8 || len(server.rows) != 4 {
		t.Errorf("%+v and %d rows in the store, want 4 rows exchanged twice", s, len(server.rows))
	}
}

// Users that make room for others before an exchange are counted as lost.
func TestSynchronised_EvictedIsLost(t *testing.T) {
	server := newFakeServer()
	node := &fakeShared{server: server, clock: sharedNoon, timeout: time.Minute}
	guard := mustNew(t, dayOnly(), &chatguard.Options{Shared: node, SharedMode: shared.Synchronised, MaxMemory: 20_000})
	const users = 2000
	checkEach(t, guard, users)
	must(t, guard.Shared().Exchange(t.Context()))
	if lost := guard.Shared().Counts().Lost; lost == 0 || int64(len(server.rows))+lost != users {
		t.Errorf("%d users are lost and %d are in the store, want %d together", lost, len(server.rows), users)
	}
}

// Messages elsewhere change a row that doesn't refuse, so it isn't judged from memory.
func TestShared_OneOfTwoRowsRefuses(t *testing.T) {
	policy := enforcedDefault()
	policy.Limits = []chatguard.Limit{
		{Name: "burst", Algorithm: chatguard.TokenBucket, Burst: 3, Refill: 4 * time.Second},
		{Name: "everywhere", Per: chatguard.PerUserEverywhere, Algorithm: chatguard.FixedWindow, Messages: 4, Every: time.Hour},
	}
	clock := func() time.Time { return sharedStart.Add(time.Minute) }
	server := newFakeServer()
	_, a := server.connect(policy, clock)
	_, b := server.connect(policy, clock)
	alone := mustNew(t, policy, &chatguard.Options{Now: clock})
	for i, sent := range []struct {
		on      *chatguard.Guard
		channel string
	}{{a, "one"}, {a, "one"}, {a, "one"}, {a, "one"}, {a, "one"}, {b, "two"}, {a, "one"}, {a, "one"}} {
		m := chatguard.Message{ChannelID: sent.channel, User: chatguard.User{ID: "7"}}
		want, err := alone.Check(t.Context(), m)
		got, errShared := sent.on.Check(t.Context(), m)
		if err != nil || errShared != nil || got.Allowed != want.Allowed || got.RetryAfter != want.RetryAfter || got.Limit != want.Limit {
			t.Errorf("message %d: %v by %s after %v (%v), want %v by %s after %v (%v)", i, got.Allowed, got.Limit, got.RetryAfter, errShared, want.Allowed, want.Limit, want.RetryAfter, err)
		}
	}
	if a.Shared().Counts().FromMemory == 0 {
		t.Error("nothing is refused from memory although both rows refuse")
	}
}

// A message that was allowed without the store, which has no row of the user, can be refunded.
func TestShared_RefundOwed(t *testing.T) {
	for _, away := range []bool{false, true} {
		node, guard := newFakeServer().connect(dayOnly(), sharedNoon)
		node.setAway(away)
		v := check(t, guard, "7")
		node.setAway(false)
		if err := guard.Refund(t.Context(), v); err != nil {
			t.Error(err)
		}
		if v := check(t, guard, "7"); v.Remaining != 299 {
			t.Errorf("away %v: %d remain after a refund and a message, want 299", away, v.Remaining)
		}
	}
}

// A node that is notified of a change just before the store goes away goes on with what it knew.
func TestShared_NoticeThenAway(t *testing.T) {
	server := newFakeServer()
	_, a := server.connect(dayOnly(), sharedNoon)
	node, b := server.connect(dayOnly(), sharedNoon)
	if got := send(t, b, 400); got != 300 {
		t.Fatalf("%d messages are allowed, want 300", got)
	}
	if _, err := a.Grant(t.Context(), chatguard.Key{ChannelID: "c", UserID: "7"}, "", 1); err != nil {
		t.Fatal(err)
	}
	node.setAway(true)
	if got := send(t, b, 400); got != 0 {
		t.Errorf("%d messages are allowed while the store is away, want none", got)
	}
}

// A reset isn't undone by what the user sends on another node before the next exchange.
func TestSynchronised_ResetStrikes(t *testing.T) {
	for _, sends := range []int{0, 1} {
		now := sharedStart
		_, _, guards, exchange := synchronised(t, 2, enforcedDefault(), func() time.Time { return now })
		m := chatguard.Message{ChannelID: "c", User: chatguard.User{ID: "7"}}
		for range 3 {
			send(t, guards[0], 8)
			now = now.Add(11 * time.Second)
		}
		exchange()
		exchange()
		now = now.Add(13 * time.Second)
		must(t, guards[1].Reset(t.Context(), m.Key()))
		now = now.Add(100 * time.Millisecond)
		send(t, guards[0], sends)
		exchange()
		exchange()
		for i, guard := range guards {
			if e, err := limitinfo.Explain(t.Context(), guard, m); err != nil || e.Strikes != 0 {
				t.Errorf("with %d messages before the exchange, node %d has %d strikes (%v), want none", sends, i, e.Strikes, err)
			}
		}
	}
}

// Throttled messages count in limits that count them, in every mode.
func TestSynchronised_CountThrottled(t *testing.T) {
	policy := chatguard.Policy{Mode: chatguard.ModeEnforce, Limits: []chatguard.Limit{
		{Name: "quick", Algorithm: chatguard.FixedWindow, Messages: 2, Every: 10 * time.Second},
		{Name: "hour", Algorithm: chatguard.FixedWindow, Messages: 10, Every: time.Hour, CountThrottled: true},
	}}
	now := sharedStart
	clock := func() time.Time { return now }
	_, _, guards, exchange := synchronised(t, 1, policy, clock)
	_, exact := newFakeServer().connect(policy, clock)
	alone := mustNew(t, policy, &chatguard.Options{Now: clock})
	for range 10 {
		want := send(t, alone, 5)
		if got := send(t, guards[0], 5); got != want {
			t.Errorf("synchronised: %d allowed, alone %d", got, want)
		}
		if got := send(t, exact, 5); got != want {
			t.Errorf("exact: %d allowed, alone %d", got, want)
		}
		now = now.Add(10 * time.Second)
		exchange()
	}
}

// What a node allows after it has handed over its messages, and before it learns what another one
// has allowed, is overdrawn, too.
func TestSynchronised_OverdrawnDuringASwap(t *testing.T) {
	server := newFakeServer()
	nodeA, a := server.connectIn(t, shared.Synchronised)
	_, b := server.connectIn(t, shared.Synchronised)
	send(t, b, 290)
	must(t, b.Shared().Exchange(t.Context()))
	send(t, a, 1)
	calls := 0
	nodeA.after = func() error {
		if calls++; calls == 2 { // the first swap finds the row of b
			send(t, a, 19)
		}
		return nil
	}
	must(t, a.Shared().Exchange(t.Context()))
	must(t, a.Shared().Exchange(t.Context()))
	if got := a.Shared().Counts().Overdrawn; got != 10 {
		t.Errorf("%d messages are overdrawn, want 10", got)
	}
}
