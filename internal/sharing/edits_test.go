package sharing_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/shared"
)

// A reset whose reply is lost isn't undone by what was pending before.
func TestShared_ResetUnconfirmed(t *testing.T) {
	for _, mode := range bothModes {
		server := newServer(t, mode, dayOnly())
		node := server.join()
		send(t, node, 250)
		node.exchange()
		node.setAway(mode == shared.Exact)
		send(t, node, 5)
		node.setAway(false)
		node.after = onceThen(func() error { return errReplyLost })
		if err := node.Reset(t.Context(), seven); !errors.Is(err, shared.ErrUnconfirmed) {
			t.Errorf("%s: %v, want ErrUnconfirmed", mode, err)
		}
		node.exchange()
		check(t, node, "7")
		node.exchange()
		if got := server.used(); got != 2 {
			t.Errorf("%s: %d messages count, want 2", mode, got)
		}
	}
}

// used returns how many messages count on a node that joins and decides by the store, with the one
// that it sends.
func (f *fakeServer) used() int {
	f.t.Helper()
	f.opts.SharedMode = shared.Exact
	return used(f.t, f.join())
}

// A reset isn't undone by an exchange that begins while it is in flight.
func TestSynchronised_ExchangeDuringReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, shared.Synchronised, dayOnly())
		node := server.join()
		send(t, node, 250)
		node.exchange()
		send(t, node, 5)
		done := make(chan struct{})
		node.after = onceThen(func() error {
			send(t, node, 1)
			go func() { defer close(done); node.exchange() }()
			time.Sleep(time.Second)
			return nil
		})
		must(t, node.Reset(t.Context(), seven))
		<-done
		node.exchange()
		if got := server.used(); got != 2 {
			t.Errorf("%d messages count, want 2: the message during the reset counts", got)
		}
	})
}

// Extra messages that were used in an outage are used up, whether others have written or not.
func TestShared_GrantUsedInOutage(t *testing.T) {
	for _, others := range []int{0, 1} {
		server := newServer(t, shared.Exact, dayOnly())
		a, b := server.join(), server.join()
		send(t, a, 300)
		_, err := a.Grant(t.Context(), seven, "", 100)
		must(t, err)
		check(t, a, "7")
		a.setAway(true)
		send(t, a, 90)
		send(t, b, others)
		a.setAway(false)
		if got, want := send(t, a, 200), 9-others; got != want {
			t.Errorf("%d others: %d extra messages are left, want %d", others, got, want)
		}
	}
}

// A message that was allowed without the store, which has no row of the user, can be refunded.
func TestShared_RefundOwed(t *testing.T) {
	for _, away := range []bool{false, true} {
		node := newServer(t, shared.Exact, dayOnly()).join()
		node.setAway(away)
		v := check(t, node, "7")
		node.setAway(false)
		must(t, node.Refund(t.Context(), v))
		if got := used(t, node); got != 1 {
			t.Errorf("away %v: %d messages count after a refund and a message, want 1", away, got)
		}
	}
}
