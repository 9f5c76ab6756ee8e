package sharing_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/shared"
)

// While the store is away, a Guard decides by what it knows. What it allows is pending, and written
// when the store is back.
func TestShared_AwayThenPaidBack(t *testing.T) {
	server := newFakeServer()
	now := sharedStart
	clock := func() time.Time { return now }
	nodeA, a := server.connect(enforcedDefault(), clock)
	nodeB, b := server.connect(enforcedDefault(), clock)
	nodeA.setAway(true)
	nodeB.setAway(true)
	for i := range 5 {
		for _, g := range []*chatguard.Guard{a, b} {
			v := check(t, g, "7")
			if v.Allowed != (i < 3) || !v.Degraded {
				t.Fatalf("message %d while the store is away: allowed %v, degraded %v", i, v.Allowed, v.Degraded)
			}
			if !v.Allowed && v.Strikes != 1 {
				t.Fatalf("message %d while the store is away: %d strikes, want 1", i, v.Strikes)
			}
		}
	}
	if err := a.Reset(t.Context(), chatguard.Key{ChannelID: "c", UserID: "7"}); !errors.Is(err, shared.ErrAway) {
		t.Errorf("Reset while the store is away: %v, want ErrAway", err)
	}
	if got := a.Shared().Counts(); got.Pending != 1 || got.Offline != 5 {
		t.Errorf("while the store is away: %+v, want one pending row, and 5 decisions offline", got)
	}
	nodeA.setAway(false)
	nodeB.setAway(false)
	for _, g := range []*chatguard.Guard{a, b} {
		must(t, g.Shared().Exchange(t.Context()))
		if got := g.Shared().Counts(); got.Pending != 0 {
			t.Errorf("after the exchange: %+v, want nothing pending", got)
		}
	}
	// Six messages were allowed: a message passes when four of them are paid back, after 4 × 4 s.
	now = sharedStart.Add(16*time.Second - 1)
	if v := check(t, a, "7"); v.Allowed || v.Degraded || v.RetryAfter != 1 {
		t.Errorf("before the debt is paid back: %+v", v)
	}
	now = sharedStart.Add(16 * time.Second)
	if v := check(t, b, "7"); !v.Allowed {
		t.Errorf("after the debt is paid back: %+v", v)
	}
}

// A swap whose reply is lost counts once, whether it happened or not.
func TestShared_LostReplies(t *testing.T) {
	for _, c := range []struct {
		name    string
		reaches bool
		others  int // writes of another node before the next message
		want    int // used
	}{
		{"it happened", true, 0, 2},
		{"it didn't happen", false, 0, 2},
		{"it didn't happen, another node wrote once", false, 1, 3},
		{"it happened, another node wrote once", true, 1, 3},
		{"it happened, another node wrote twice", true, 2, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := newFakeServer()
			policy := enforcedDefault()
			policy.Limits = policy.Limits[1:] // the day
			node, guard := server.connect(policy, sharedNoon)
			_, other := server.connect(policy, sharedNoon)
			if c.reaches {
				node.after = func() error { return errReplyLost }
			} else {
				node.before = func(context.Context) error { return errReplyLost }
			}
			if v := check(t, guard, "7"); !v.Allowed || !v.Degraded {
				t.Fatalf("with a lost reply: %+v", v)
			}
			node.before, node.after = nil, nil
			for range c.others {
				check(t, other, "7")
			}
			if v := check(t, guard, "7"); v.Degraded || 300-v.Remaining != c.want {
				t.Errorf("%d messages count, want %d (degraded %v)", 300-v.Remaining, c.want, v.Degraded)
			}
			if v := check(t, other, "7"); 300-v.Remaining != c.want+1 {
				t.Errorf("on the other node %d messages count, want %d", 300-v.Remaining, c.want+1)
			}
		})
	}
}

// A store that has lost writes gets them back from a node that remembers them.
func TestShared_LostWritesHeal(t *testing.T) {
	server := newFakeServer()
	now := sharedStart
	_, guard := server.connect(enforcedDefault(), func() time.Time { return now })
	_, other := server.connect(enforcedDefault(), func() time.Time { return now })
	check(t, guard, "7")
	early := server.save()
	check(t, guard, "7")
	check(t, guard, "7")
	server.restore(early) // a replica took over
	if v := check(t, guard, "7"); v.Allowed {
		t.Error("allowed after two writes were lost")
	}
	server.lose() // it starts empty
	now = now.Add(4 * time.Second)
	if v := check(t, guard, "7"); !v.Allowed || v.Remaining != 0 {
		t.Errorf("after all rows were lost: %+v, want the one message regained", v)
	}
	if v := check(t, other, "7"); v.Allowed {
		t.Error("the other node allows a message after the row came back")
	}
	if got := guard.Shared().Counts().Healed; got != 2 {
		t.Errorf("%d rows came back, want 2", got)
	}
	now = now.Add(48 * time.Hour)
	server.lose()
	if v := check(t, guard, "7"); !v.Allowed || v.Remaining != 2 {
		t.Errorf("two days later: %+v, want a new user's", v)
	}
	if got := guard.Shared().Counts().Healed; got != 2 {
		t.Errorf("a row that had no effect any more came back (%d)", got)
	}
}

// After a store has lost all rows, the newest that a node remembers is in force again, also if a
// node with an older one comes first, and however much it has written since.
func TestShared_NewerRowWins(t *testing.T) {
	const older, newer = 5, 10
	for _, first := range []string{"the node with the older row", "the node with the newer row"} {
		lost := 0
		for since := range 31 {
			server := newFakeServer()
			_, a := server.connect(dayOnly(), sharedNoon)
			_, b := server.connect(dayOnly(), sharedNoon)
			send(t, a, older)
			// One write, so that the number of writes doesn't say how much was spent.
			if v, err := b.Check(t.Context(), chatguard.Message{ChannelID: "c", User: chatguard.User{ID: "7"}, Cost: newer}); err != nil || !v.Allowed {
				t.Fatalf("%+v, %v", v, err)
			}
			server.lose()
			send(t, a, since)
			for _, g := range []*chatguard.Guard{a, b} {
				g.Shared().InvalidateAll()
				g.Shared().Heal()
			}
			if first == "the node with the newer row" {
				a, b = b, a
			}
			for _, g := range []*chatguard.Guard{a, b, a} {
				must(t, g.Shared().Exchange(t.Context()))
			}
			_, c := server.connect(dayOnly(), sharedNoon)
			used := 300 - check(t, c, "7").Remaining - 1
			if lost = max(lost, older+newer+since-used); used < older+newer || used > older+newer+since {
				t.Errorf("%s exchanges first, %d messages after the loss: %d count, want %d, and at most %d more", first, since, used, older+newer, since)
				break
			}
		}
		t.Logf("%s exchanges first: at most %d messages don't count", first, lost)
	}
}

// A node writes all rows again that it remembers, once it is told that the store has lost some.
func TestShared_Heal(t *testing.T) {
	server := newFakeServer()
	now := sharedStart
	_, guard := server.connect(enforcedDefault(), func() time.Time { return now })
	for _, user := range []string{"7", "8", "9"} {
		check(t, guard, user)
	}
	rows := server.save()
	server.lose()
	guard.Shared().Heal()
	must(t, guard.Shared().Exchange(t.Context()))
	if got := server.save(); !reflect.DeepEqual(got, rows) || guard.Shared().Counts().Healed != 3 || guard.Shared().Counts().Pending != 0 {
		t.Errorf("the server has %d rows again, want the %d as they were (%+v)", len(got), len(rows), guard.Shared().Counts())
	}
	now = now.Add(48 * time.Hour)
	server.lose()
	guard.Shared().Heal()
	if err := guard.Shared().Exchange(t.Context()); err != nil || len(server.save()) != 0 {
		t.Errorf("%d rows come back after they have no effect any more (%v)", len(server.save()), err)
	}
}

// A reset isn't undone by another node that remembers the row from before, even if the store loses
// its rows.
func TestShared_ResetStays(t *testing.T) {
	server := newFakeServer()
	_, a := server.connect(enforcedDefault(), sharedNoon)
	_, b := server.connect(enforcedDefault(), sharedNoon)
	send(t, a, 3)
	check(t, b, "7")
	must(t, a.Reset(t.Context(), chatguard.Key{ChannelID: "c", UserID: "7"}))
	server.lose()
	if v := check(t, b, "7"); !v.Allowed || v.Remaining != 2 {
		t.Errorf("after a reset: %+v, want a new user's", v)
	}
}

// A node that didn't know a lost row begins it anew, with more writes than the lost one had. The row
// that comes back counts both, and can be read.
func TestShared_BegunRowIsAdded(t *testing.T) {
	for _, mode := range []shared.Mode{shared.Exact, shared.Synchronised} {
		server := newFakeServer()
		now := sharedStart
		var guards []*chatguard.Guard
		for i := range 2 {
			node := &fakeShared{server: server, number: uint8(i), clock: func() time.Time { return now }, timeout: time.Minute}
			guards = append(guards, mustNew(t, dayOnly(), &chatguard.Options{Shared: node, SharedMode: mode}))
		}
		server.guards = guards
		exchange := func(guard *chatguard.Guard) {
			t.Helper()
			must(t, guard.Shared().Exchange(t.Context()))
		}
		for range 3 {
			check(t, guards[0], "7")
			exchange(guards[0])
		}
		server.lose()
		now = now.Add(time.Second)
		for range 20 {
			check(t, guards[1], "7")
			exchange(guards[1])
		}
		guards[0].Shared().Heal()
		exchange(guards[0])
		now = now.Add(2 * time.Second)
		for i, guard := range guards {
			guard.Shared().InvalidateAll()
			exchange(guard)
			if v := check(t, guard, "7"); v.Degraded || 300-v.Remaining != 24+i {
				t.Errorf("%s, node %d: %d messages count, want %d (degraded %t)", mode, i, 300-v.Remaining, 24+i, v.Degraded)
			}
			exchange(guard)
		}
	}
}
