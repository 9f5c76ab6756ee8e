package sharing_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/shared"
)

// A notice that arrives after the store's reply, and before the Guard has handled that, is not
// lost.
func TestShared_NoticeDuringASwap(t *testing.T) {
	server := newFakeServer()
	node, guard := server.connect(enforcedDefault(), sharedNoon)
	send(t, guard, 3)
	node.after = func() error {
		guard.Shared().Invalidate("c", "7")
		return nil
	}
	check(t, guard, "7") // the strike is written
	node.after = nil
	swaps := server.swaps
	if check(t, guard, "7"); server.swaps == swaps {
		t.Error("the next refusal comes from memory")
	}
	swaps = server.swaps
	if check(t, guard, "7"); server.swaps != swaps {
		t.Error("the refusal after that doesn't come from memory")
	}
}

// A notice with an impossible key changes nothing.
func TestShared_NoticeOfNoRow(t *testing.T) {
	for _, mode := range []shared.Mode{shared.Exact, shared.Synchronised} {
		server := newFakeServer()
		node := &fakeShared{server: server, clock: sharedNoon, timeout: time.Minute}
		guard := mustNew(t, enforcedDefault(), &chatguard.Options{Shared: node, SharedMode: mode})
		long := strings.Repeat("x", 1000)
		guard.Shared().Invalidate(long, "7")
		guard.Shared().Invalidate("c", long)
		guard.Shared().Invalidate("c", "")
		if err := guard.Shared().Exchange(t.Context()); err != nil {
			t.Error(err)
		}
		if got := guard.Shared().Counts(); got.Pending != 0 {
			t.Errorf("mode %s: %+v, want nothing pending", mode, got)
		}
	}
}

// A notice that arrives after the reply of a conflict, and before the Guard has handled that, is
// not lost either.
func TestShared_NoticeDuringAConflict(t *testing.T) {
	for _, known := range []bool{false, true} {
		server := newFakeServer()
		now := sharedStart
		_, a := server.connect(enforcedDefault(), func() time.Time { return now })
		node, b := server.connect(enforcedDefault(), func() time.Time { return now })
		if known {
			check(t, b, "7")
		}
		send(t, a, 4)
		node.after = onceThen(func() error { return a.Reset(t.Context(), chatguard.Key{ChannelID: "c", UserID: "7"}) })
		check(t, b, "7")
		now = now.Add(time.Second)
		if v := check(t, b, "7"); !v.Allowed {
			t.Errorf("row known %v, one second after a reset: %+v, want it allowed", known, v)
		}
	}
}
