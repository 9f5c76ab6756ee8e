package sharing_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/shared"
)

// A notice that arrives after the store's reply, and before the Guard has handled that, is not
// lost.
func TestShared_NoticeDuringASwap(t *testing.T) {
	server := newServer(t, shared.Exact, enforced())
	node := server.join()
	send(t, node, 3)
	node.after = func() error {
		node.Shared().Invalidate("c", "7")
		return nil
	}
	check(t, node, "7") // the strike is written
	node.after = nil
	swaps := server.swaps
	if check(t, node, "7"); server.swaps == swaps {
		t.Error("the next refusal comes from memory")
	}
	swaps = server.swaps
	if check(t, node, "7"); server.swaps != swaps {
		t.Error("the refusal after that doesn't come from memory")
	}
}

// A notice with an impossible key changes nothing.
func TestShared_NoticeOfNoRow(t *testing.T) {
	for _, mode := range bothModes {
		node := newServer(t, mode, enforced()).join()
		long := strings.Repeat("x", 1000)
		node.Shared().Invalidate(long, "7")
		node.Shared().Invalidate("c", long)
		node.Shared().Invalidate("c", "")
		if node.exchange(); node.counts().Pending != 0 {
			t.Errorf("mode %s: %+v, want nothing pending", mode, node.counts())
		}
	}
}

// A notice that arrives after the reply of a conflict, and before the Guard has handled that, is
// not lost either.
func TestShared_NoticeDuringAConflict(t *testing.T) {
	for _, known := range []bool{false, true} {
		server := newServer(t, shared.Exact, enforced())
		a, b := server.join(), server.join()
		if known {
			check(t, b, "7")
		}
		send(t, a, 4)
		b.after = onceThen(func() error { return a.Reset(t.Context(), seven) })
		check(t, b, "7")
		server.now = server.now.Add(time.Second)
		if v := check(t, b, "7"); !v.Allowed {
			t.Errorf("row known %v, one second after a reset: %+v, want it allowed", known, v)
		}
	}
}

// So does one during the conflict of an exchange: the next one reads the row again.
func TestSynchronised_NoticeDuringAConflict(t *testing.T) {
	server := newServer(t, shared.Synchronised, enforced())
	a, b := server.join(), server.join()
	send(t, b, 4)
	server.exchange()
	server.exchange()
	b.Shared().Invalidate("c", "7")
	b.after = onceThen(func() error { return a.Reset(t.Context(), seven) })
	server.exchange()
	server.exchange()
	if send(t, b, 1) != 1 {
		t.Errorf("the reset isn't known two exchanges later: %+v", b.counts())
	}
}

// After a gap in the notices, all rows are read again, and all overrides looked for.
func TestSynchronised_NoticesMissed(t *testing.T) {
	server := newServer(t, shared.Synchronised, enforced())
	a, b := server.join(), server.join()
	send(t, b, 4)
	server.exchange()
	server.exchange()
	server.silent = true
	must(t, a.Reset(t.Context(), seven))
	must(t, a.SetUserOverride(t.Context(), eight, exempt))
	server.exchange()
	if send(t, b, 1) != 0 || check(t, b, "8").Exempt {
		t.Error("the changes are known without a notice: the test proves nothing")
	}
	b.Shared().InvalidateAll()
	server.exchange()
	if v := check(t, b, "8"); send(t, b, 1) != 1 || !v.Exempt {
		t.Errorf("after a notice about all rows: %+v, want the reset and the override in force", v)
	}
}

// All rows are read again after a gap in the notices, also if limits of all scopes share a flight.
func TestSynchronised_InvalidateAllScopes(t *testing.T) {
	server := newServer(t, shared.Synchronised, sharedPolicy())
	node := server.join()
	check(t, node, "7")
	node.exchange()
	node.Shared().InvalidateAll()
	node.exchange()
	if s := node.counts(); s.Pending != 0 || s.Exchanged != 8 || len(server.rows) != 4 {
		t.Errorf("%+v and %d rows in the store, want 4 rows exchanged twice", s, len(server.rows))
	}
}

// A node that is notified of a change just before the store goes away goes on with what it knew.
func TestShared_NoticeThenAway(t *testing.T) {
	server := newServer(t, shared.Exact, dayOnly())
	a, b := server.join(), server.join()
	if got := send(t, b, 400); got != 300 {
		t.Fatalf("%d messages are allowed, want 300", got)
	}
	_, err := a.Grant(t.Context(), seven, "", 1)
	must(t, err)
	b.setAway(true)
	if got := send(t, b, 400); got != 0 {
		t.Errorf("%d messages are allowed while the store is away, want none", got)
	}
}
