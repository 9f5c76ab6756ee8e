package sharing_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/shared"
)

var seven = chatguard.Key{ChannelID: "c", UserID: "7"}

// connectIn is connect for a mode, with the limit of a day.
func (f *fakeServer) connectIn(t *testing.T, mode shared.Mode) (*fakeShared, *chatguard.Guard) {
	node := &fakeShared{server: f, number: uint8(len(f.guards)), clock: sharedNoon, timeout: time.Minute}
	guard := mustNew(t, dayOnly(), &chatguard.Options{Shared: node, SharedMode: mode})
	f.guards = append(f.guards, guard)
	return node, guard
}

// remaining returns how much another node allows after one more message.
func (f *fakeServer) remaining(t *testing.T) int {
	t.Helper()
	_, other := f.connect(dayOnly(), sharedNoon)
	return check(t, other, "7").Remaining
}

// A reset whose reply is lost isn't undone by what was pending before.
func TestShared_ResetUnconfirmed(t *testing.T) {
	for _, mode := range []shared.Mode{shared.Exact, shared.Synchronised} {
		server := newFakeServer()
		node, guard := server.connectIn(t, mode)
		send(t, guard, 250)
		must(t, guard.Shared().Exchange(t.Context()))
		node.setAway(mode == shared.Exact)
		send(t, guard, 5)
		node.setAway(false)
		node.after = func() error { node.after = nil; return errReplyLost }
		if err := guard.Reset(t.Context(), seven); !errors.Is(err, shared.ErrUnconfirmed) {
			t.Errorf("%s: %v, want ErrUnconfirmed", mode, err)
		}
		must(t, guard.Shared().Exchange(t.Context()))
		check(t, guard, "7")
		must(t, guard.Shared().Exchange(t.Context()))
		if got := server.remaining(t); got != 298 {
			t.Errorf("%s: %d remain, want 298", mode, got)
		}
	}
}

// A reset isn't undone by an exchange that begins while it is in flight.
func TestSynchronised_ExchangeDuringReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer()
		node, guard := server.connectIn(t, shared.Synchronised)
		send(t, guard, 250)
		must(t, guard.Shared().Exchange(t.Context()))
		send(t, guard, 5)
		done := make(chan error, 1)
		node.after = func() error {
			node.after = nil
			send(t, guard, 1)
			go func() { done <- guard.Shared().Exchange(t.Context()) }()
			time.Sleep(time.Second)
			return nil
		}
		must(t, guard.Reset(t.Context(), seven))
		must(t, <-done)
		must(t, guard.Shared().Exchange(t.Context()))
		if got := server.remaining(t); got != 298 {
			t.Errorf("%d remain, want 298: the message during the reset counts", got)
		}
	})
}

// Extra messages that were used in an outage are used up, whether others have written or not.
func TestShared_GrantUsedInOutage(t *testing.T) {
	for _, others := range []int{0, 1} {
		server := newFakeServer()
		node, a := server.connectIn(t, shared.Exact)
		_, b := server.connectIn(t, shared.Exact)
		send(t, a, 300)
		_, err := a.Grant(t.Context(), seven, "", 100)
		must(t, err)
		check(t, a, "7")
		node.setAway(true)
		send(t, a, 90)
		send(t, b, others)
		node.setAway(false)
		if got, want := send(t, a, 200), 9-others; got != want {
			t.Errorf("%d others: %d extra messages are left, want %d", others, got, want)
		}
	}
}

// lossTest is two nodes, and a store that loses the row of a.
type lossTest struct {
	server *fakeServer
	node   *fakeShared // of a
	a, b   *chatguard.Guard
	now    time.Time
}

func newLossTest() *lossTest {
	l := &lossTest{server: newFakeServer(), now: sharedStart}
	clock := func() time.Time { return l.now }
	l.node, l.a = l.server.connect(dayOnly(), clock)
	_, l.b = l.server.connect(dayOnly(), clock)
	return l
}

// used returns how many messages count on a node, with the one that it sends.
func used(t *testing.T, guard *chatguard.Guard) int {
	t.Helper()
	return 300 - check(t, guard, "7").Remaining
}

// A row that another node has begun counts once, also for the message that finds the loss.
func TestShared_BegunRowCountsOnce(t *testing.T) {
	l := newLossTest()
	send(t, l.a, 1)
	l.now = l.now.Add(time.Minute)
	l.server.lose()
	send(t, l.b, 30)
	if got := used(t, l.a); got != 32 {
		t.Errorf("%d count for the node that restores the row, want 32", got)
	}
	l.now = l.now.Add(2 * time.Second)
	if a, b := used(t, l.a), used(t, l.b); a != 33 || b != 34 {
		t.Errorf("then %d and %d count, want 33 and 34", a, b)
	}
}

// A message counts if the reply to the restore before it is lost.
func TestShared_RestoreWithLostReply(t *testing.T) {
	l := newLossTest()
	send(t, l.a, 1)
	l.now = l.now.Add(time.Minute)
	l.server.lose()
	calls := 0
	l.node.after = func() error {
		if calls++; calls < 2 {
			return nil // the first swap finds the loss
		}
		l.node.after = nil
		check(t, l.b, "7")
		return errOvertaken
	}
	check(t, l.a, "7")
	l.now = l.now.Add(2 * time.Second)
	if got, assumed := used(t, l.a), l.a.Shared().Counts().Assumed; got != 4 || assumed != 0 {
		t.Errorf("%d messages count, and %d swaps are assumed, want 4 and none", got, assumed)
	}
}

// What is owed doesn't count as written because the row was restored.
func TestShared_TryBeforeRestore(t *testing.T) {
	l := newLossTest()
	send(t, l.a, 5)
	l.node.before = func(context.Context) error { return errReplyLost }
	send(t, l.a, 4)
	l.node.before = nil
	l.now = l.now.Add(time.Minute)
	l.server.lose()
	send(t, l.b, 2)
	check(t, l.a, "7")
	l.now = l.now.Add(2 * time.Second)
	if a, b := used(t, l.a), used(t, l.b); a != 13 || b != 14 {
		t.Errorf("%d and %d count, want 13 and 14", a, b)
	}
}
