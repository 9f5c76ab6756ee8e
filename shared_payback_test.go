package chatguard_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
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

// A node that writes lost rows again keeps what it owes.
func TestShared_HealKeepsDebts(t *testing.T) {
	server := newFakeServer()
	node := &fakeShared{server: server, clock: func() time.Time { return sharedStart }, timeout: time.Minute}
	guard, err := chatguard.New(enforcedDefault(), &chatguard.Options{Shared: node, SharedRows: 640})
	if err != nil {
		t.Fatal(err)
	}
	for user := range 2000 {
		check(t, guard, fmt.Sprint(user))
	}
	node.setAway(true)
	for user := range 300 {
		check(t, guard, fmt.Sprint("away ", user))
	}
	guard.Heal()
	if s := guard.Sharing(); s.Lost != 0 || s.Owed != 300 {
		t.Errorf("%+v, want 300 rows that owe something", s)
	}
	node.setAway(false)
	if err := guard.Exchange(t.Context()); err != nil || guard.Sharing().Owed != 0 || len(server.rows) != 2300 {
		t.Errorf("%v, %+v, %d rows in the store, want 2300", err, guard.Sharing(), len(server.rows))
	}
}

// With ShareSynchronised, verdicts are Degraded from the first exchange that finds the store away.
func TestSynchronised_DegradedWhileAway(t *testing.T) {
	_, nodes, guards, _ := synchronised(t, 1, enforcedDefault(), func() time.Time { return sharedStart })
	m := chatguard.Message{ChannelID: "c", User: chatguard.User{ID: "7"}}
	for _, away := range []bool{true, false} {
		check(t, guards[0], "7")
		nodes[0].setAway(away)
		if err := guards[0].Exchange(t.Context()); errors.Is(err, chatguard.ErrAway) != away {
			t.Errorf("away %v: %v", away, err)
		}
		var all [1]chatguard.Verdict
		if err := guards[0].CheckAll(t.Context(), []chatguard.Message{m}, all[:]); err != nil {
			t.Fatal(err)
		}
		if v := check(t, guards[0], "7"); v.Degraded != away || all[0].Degraded != away {
			t.Errorf("away %v: %+v and %+v", away, v, all[0])
		}
	}
}

// All rows are read again after a gap in the notices, also if limits of all scopes share a flight.
func TestSynchronised_InvalidateAllScopes(t *testing.T) {
	policy := enforcedDefault()
	for _, per := range []chatguard.Scope{chatguard.PerUserEverywhere, chatguard.PerChannel} {
		policy.Limits = append(policy.Limits, chatguard.Limit{Name: per.String(), Per: per, Algorithm: chatguard.FixedWindow, Messages: 100, Every: time.Hour})
	}
	server, _, guards, exchange := synchronised(t, 1, policy, func() time.Time { return sharedStart })
	check(t, guards[0], "7")
	exchange()
	guards[0].Invalidate("", "")
	exchange()
	if s := guards[0].Sharing(); s.Owed != 0 || s.Exchanged != 6 || len(server.rows) != 3 {
		t.Errorf("%+v and %d rows in the store, want 3 rows exchanged twice", s, len(server.rows))
	}
}
