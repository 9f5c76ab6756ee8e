package sharing_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/shared"
)

// bothAway returns a server that is away, and two nodes.
func bothAway(t *testing.T, policy chatguard.Policy) (server *fakeServer, a, b *node) {
	server = newServer(t, shared.Exact, policy)
	a, b = server.join(), server.join()
	server.setAway(true)
	return server, a, b
}

func (f *fakeServer) setAway(away bool) {
	for _, n := range f.nodes {
		n.setAway(away)
	}
}

// While the store is away, a Guard decides by what it knows. What it allows is pending, and written
// when the store is back.
func TestShared_AwayThenPaidBack(t *testing.T) {
	server, a, b := bothAway(t, enforced())
	for i := range 5 {
		for _, n := range server.nodes {
			v := check(t, n, "7")
			if v.Allowed != (i < 3) || !v.Degraded {
				t.Fatalf("message %d while the store is away: allowed %v, degraded %v", i, v.Allowed, v.Degraded)
			}
			if !v.Allowed && v.Strikes != 1 {
				t.Fatalf("message %d while the store is away: %d strikes, want 1", i, v.Strikes)
			}
		}
	}
	if err := a.Reset(t.Context(), seven); !errors.Is(err, shared.ErrAway) {
		t.Errorf("Reset while the store is away: %v, want ErrAway", err)
	}
	if got := a.counts(); got.Pending != 1 || got.Offline != 5 {
		t.Errorf("while the store is away: %+v, want one pending row, and 5 decisions offline", got)
	}
	server.setAway(false)
	for _, n := range server.nodes {
		if n.exchange(); n.counts().Pending != 0 {
			t.Errorf("after the exchange: %+v, want nothing pending", n.counts())
		}
	}
	// Six messages were allowed: a message passes when four of them are paid back, after 4 × 4 s.
	server.now = sharedStart.Add(16*time.Second - 1)
	if v := check(t, a, "7"); v.Allowed || v.Degraded || v.RetryAfter != 1 {
		t.Errorf("before the debt is paid back: %+v", v)
	}
	server.now = sharedStart.Add(16 * time.Second)
	if v := check(t, b, "7"); !v.Allowed {
		t.Errorf("after the debt is paid back: %+v", v)
	}
}

// When the store is back, each node pays what it has allowed. A node that was the first to pay
// doesn't refuse by the row as it was then.
func TestShared_PaybackIsNoticed(t *testing.T) {
	server, a, b := bothAway(t, enforced())
	if send(t, a, 3) != 3 || send(t, b, 3) != 3 {
		t.Fatal("a node alone refuses one of three messages")
	}
	server.setAway(false)
	refused := func(n *node, wait time.Duration) {
		t.Helper()
		if v := check(t, n, "7"); v.Allowed || v.RetryAfter != wait {
			t.Errorf("%+v, want a wait of %v", v, wait)
		}
	}
	refused(a, 4*time.Second)
	server.now = server.now.Add(time.Second)
	for range 2 {
		refused(b, 15*time.Second)
		refused(a, 15*time.Second)
	}
}

// A swap whose reply is lost counts once, whether it happened or not.
func TestShared_LostReplies(t *testing.T) {
	for _, c := range []struct {
		happened bool
		others   int // writes of another node before the next message
		want     int // used
	}{
		{true, 0, 2},
		{false, 0, 2},
		{false, 1, 3},
		{true, 1, 3},
		{true, 2, 4},
	} {
		t.Run(fmt.Sprintf("happened %v, %d writes of another node", c.happened, c.others), func(t *testing.T) {
			server := newServer(t, shared.Exact, dayOnly())
			node, other := server.join(), server.join()
			if c.happened {
				node.after = func() error { return errReplyLost }
			} else {
				node.before = func(context.Context) error { return errReplyLost }
			}
			if v := check(t, node, "7"); !v.Allowed || !v.Degraded {
				t.Fatalf("with a lost reply: %+v", v)
			}
			node.before, node.after = nil, nil
			send(t, other, c.others)
			if v := check(t, node, "7"); v.Degraded || 300-v.Remaining != c.want {
				t.Errorf("%d messages count, want %d (degraded %v)", 300-v.Remaining, c.want, v.Degraded)
			}
			if got := used(t, other); got != c.want+1 {
				t.Errorf("on the other node %d messages count, want %d", got, c.want+1)
			}
		})
	}
}

// A store that has lost writes gets them back from a node that remembers them.
func TestShared_LostWritesHeal(t *testing.T) {
	server := newServer(t, shared.Exact, enforced())
	node, other := server.join(), server.join()
	check(t, node, "7")
	early := server.save()
	send(t, node, 2)
	server.restore(early) // a replica took over
	if v := check(t, node, "7"); v.Allowed {
		t.Error("allowed after two writes were lost")
	}
	server.lose() // it starts empty
	server.now = server.now.Add(4 * time.Second)
	if v := check(t, node, "7"); !v.Allowed || v.Remaining != 0 {
		t.Errorf("after all rows were lost: %+v, want the one message regained", v)
	}
	if v := check(t, other, "7"); v.Allowed {
		t.Error("the other node allows a message after the row came back")
	}
	if got := node.counts().Healed; got != 2 {
		t.Errorf("%d rows came back, want 2", got)
	}
	server.now = server.now.Add(48 * time.Hour)
	server.lose()
	if v := check(t, node, "7"); !v.Allowed || v.Remaining != 2 {
		t.Errorf("two days later: %+v, want a new user's", v)
	}
	if got := node.counts().Healed; got != 2 {
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
			server := newServer(t, shared.Exact, dayOnly())
			a, b := server.join(), server.join()
			send(t, a, older)
			// One write, so that the number of writes doesn't say how much was spent.
			m := message("7")
			m.Cost = newer
			if v := judge(t, b, m); !v.Allowed {
				t.Fatalf("%+v", v)
			}
			server.lose()
			send(t, a, since)
			for _, n := range server.nodes {
				n.Shared().InvalidateAll()
				n.Shared().Heal()
			}
			if first == "the node with the newer row" {
				a, b = b, a
			}
			for _, n := range []*node{a, b, a} {
				n.exchange()
			}
			counted := server.used() - 1
			if lost = max(lost, older+newer+since-counted); counted < older+newer || counted > older+newer+since {
				t.Errorf("%s exchanges first, %d messages after the loss: %d count, want %d, and at most %d more", first, since, counted, older+newer, since)
				break
			}
		}
		t.Logf("%s exchanges first: at most %d messages don't count", first, lost)
	}
}

// A node reads all rows that it remembers, once it is told that the store has lost some, and writes
// those again that are gone. Nothing is pending in rows that the next exchange only reads.
func TestShared_Heal(t *testing.T) {
	server := newServer(t, shared.Exact, enforced())
	node := server.join()
	checkEach(t, node, 3)
	node.Shared().Heal()
	if s := node.counts(); s.Pending != 0 || s.Rows != 3 {
		t.Errorf("%+v, want 3 rows with nothing pending", s)
	}
	node.exchange()
	if s := node.counts(); s.Exchanged != 3 || s.Healed != 0 {
		t.Errorf("%+v, want 3 rows looked at", s)
	}
	rows := server.save()
	server.lose()
	node.Shared().Heal()
	node.exchange()
	if got := server.save(); !reflect.DeepEqual(got, rows) || node.counts().Healed != 3 || node.counts().Pending != 0 {
		t.Errorf("the server has %d rows again, want the %d as they were (%+v)", len(got), len(rows), node.counts())
	}
	server.now = server.now.Add(48 * time.Hour)
	server.lose()
	node.Shared().Heal()
	if node.exchange(); len(server.save()) != 0 {
		t.Errorf("%d rows come back after they have no effect any more", len(server.save()))
	}
}

// A node that writes lost rows again keeps what is pending.
func TestShared_HealKeepsDebts(t *testing.T) {
	server := newServer(t, shared.Exact, enforced())
	server.opts.SharedRows = 1280
	node := server.join()
	checkEach(t, node, 2000)
	node.setAway(true)
	for user := range 40 {
		check(t, node, fmt.Sprint("away ", user))
	}
	node.Shared().Heal()
	server.now = server.now.Add(3 * time.Second)
	node.Shared().Heal() // another loss
	if s := node.counts(); s.Lost != 0 || s.Pending != 40 {
		t.Errorf("%+v, want 40 pending rows", s)
	}
	node.setAway(false)
	for _, rows := range []int{2000, 2040} { // while rows are restored, and afterwards
		if node.exchange(); node.counts().Pending != 2040-rows || len(server.rows) != rows {
			t.Errorf("%+v, %d rows in the store, want %d", node.counts(), len(server.rows), rows)
		}
		server.now = server.now.Add(time.Second)
	}
}

// A reset isn't undone by another node that remembers the row from before, even if the store loses
// its rows.
func TestShared_ResetStays(t *testing.T) {
	server := newServer(t, shared.Exact, enforced())
	a, b := server.join(), server.join()
	send(t, a, 3)
	check(t, b, "7")
	must(t, a.Reset(t.Context(), seven))
	server.lose()
	if v := check(t, b, "7"); !v.Allowed || v.Remaining != 2 {
		t.Errorf("after a reset: %+v, want a new user's", v)
	}
}

// A node that didn't know a lost row begins it anew, with more writes than the lost one had. The row
// that comes back counts both, and can be read.
func TestShared_BegunRowIsAdded(t *testing.T) {
	for _, mode := range bothModes {
		server := newServer(t, mode, dayOnly())
		a, b := server.join(), server.join()
		for range 3 {
			check(t, a, "7")
			a.exchange()
		}
		server.lose()
		server.now = server.now.Add(time.Second)
		for range 20 {
			check(t, b, "7")
			b.exchange()
		}
		a.Shared().Heal()
		a.exchange()
		server.now = server.now.Add(2 * time.Second)
		for i, n := range server.nodes {
			n.Shared().InvalidateAll()
			n.exchange()
			if v := check(t, n, "7"); v.Degraded || 300-v.Remaining != 24+i {
				t.Errorf("%s, node %d: %d messages count, want %d (degraded %t)", mode, i, 300-v.Remaining, 24+i, v.Degraded)
			}
			n.exchange()
		}
	}
}

// A row that another node has begun counts once, also for the message that finds the loss. What is
// owed doesn't count as written because the row was restored.
func TestShared_BegunRowCountsOnce(t *testing.T) {
	for _, c := range []struct {
		written, owed int // by the node that restores the row
		begun         int // by the other one
	}{{1, 0, 30}, {5, 4, 2}} {
		server := newServer(t, shared.Exact, dayOnly())
		a, b := server.join(), server.join()
		send(t, a, c.written)
		a.before = func(context.Context) error { return errReplyLost }
		send(t, a, c.owed)
		a.before = nil
		server.now = server.now.Add(time.Minute)
		server.lose()
		send(t, b, c.begun)
		sent := c.written + c.owed + c.begun
		if got := used(t, a); got != sent+1 {
			t.Errorf("%+v: %d count for the node that restores the row, want %d", c, got, sent+1)
		}
		server.now = server.now.Add(2 * time.Second)
		if a, b := used(t, a), used(t, b); a != sent+2 || b != sent+3 {
			t.Errorf("%+v: then %d and %d count, want %d and %d", c, a, b, sent+2, sent+3)
		}
	}
}

// A message counts if the reply to the restore before it is lost.
func TestShared_RestoreWithLostReply(t *testing.T) {
	server := newServer(t, shared.Exact, dayOnly())
	a, b := server.join(), server.join()
	send(t, a, 1)
	server.now = server.now.Add(time.Minute)
	server.lose()
	calls := 0
	a.after = func() error {
		if calls++; calls < 2 {
			return nil // the first swap finds the loss
		}
		a.after = nil
		check(t, b, "7")
		return errOvertaken
	}
	check(t, a, "7")
	server.now = server.now.Add(2 * time.Second)
	if got, assumed := used(t, a), a.counts().Assumed; got != 4 || assumed != 0 {
		t.Errorf("%d messages count, and %d swaps are assumed, want 4 and none", got, assumed)
	}
}
