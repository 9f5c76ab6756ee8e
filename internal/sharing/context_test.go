package sharing_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/shared"
)

// calls returns the calls that may wait for the store, besides those that judge messages. changes
// are those that change a user.
func calls(t *testing.T, guard *chatguard.Guard) (reads, changes map[string]func(context.Context) error) {
	m := chatguard.Message{ChannelID: "c", User: chatguard.User{ID: "7"}, Cost: 300}
	r, err := guard.Reserve(t.Context(), m)
	must(t, err)
	throttled := judge(t, guard, m)
	taken, err := inner.At(guard, guard.Now()).PardonAll(t.Context(), []chatguard.Verdict{throttled})
	must(t, err)
	reads = map[string]func(context.Context) error{
		"Peek":          func(ctx context.Context) error { _, err := guard.Peek(ctx, m); return err },
		"UserOverride":  func(ctx context.Context) error { _, err := guard.UserOverride(ctx, seven); return err },
		"UserOverrides": func(ctx context.Context) error { _, err := guard.UserOverrides(ctx, "c"); return err },
	}
	changes = map[string]func(context.Context) error{
		"Grant":           func(ctx context.Context) error { _, err := guard.Grant(ctx, seven, "", 1); return err },
		"Refund":          func(ctx context.Context) error { return guard.Refund(ctx, r.Verdict) },
		"Cancel":          r.Cancel,
		"Pardon":          func(ctx context.Context) error { _, err := guard.Pardon(ctx, throttled); return err },
		"Reset":           func(ctx context.Context) error { return guard.Reset(ctx, seven) },
		"Unpardon":        func(ctx context.Context) error { return inner.At(guard, guard.Now()).Unpardon(ctx, seven, taken) },
		"SetUserOverride": func(ctx context.Context) error { return guard.SetUserOverride(ctx, seven, exempt) },
	}
	return reads, changes
}

// atEnd fails the test unless a call returns when its context ends, with the context's error.
func atEnd(t *testing.T, name string, call func(context.Context) error) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	began := time.Now()
	err := call(ctx)
	if took := time.Since(began); took != time.Second || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%s returns %v after %v, want the context's error after a second", name, err, took)
	}
	return err
}

// takes lets a request take this time.
func takes(d time.Duration) func(context.Context) error {
	return func(context.Context) error { time.Sleep(d); return nil }
}

// A call ends with its context while the store doesn't answer. A change may have been made then.
func TestContext_StoreHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node := newServerInBubble(t, shared.Exact, dayOnly()).join()
		reads, changes := calls(t, node.Guard)
		node.before = func(ctx context.Context) error { <-ctx.Done(); return errReplyLost }
		for name, call := range reads {
			if err := atEnd(t, name, call); errors.Is(err, shared.ErrUnconfirmed) {
				t.Errorf("%s returns %v, but it changes nothing", name, err)
			}
		}
		for name, call := range changes {
			if err := atEnd(t, name, call); !errors.Is(err, shared.ErrUnconfirmed) {
				t.Errorf("%s returns %v, want also ErrUnconfirmed", name, err)
			}
		}
	})
}

// A change that waits for another swap of the row isn't made if its context ends.
func TestContext_Waiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServerInBubble(t, shared.Exact, dayOnly())
		node := server.join()
		reads, changes := calls(t, node.Guard)
		node.before = takes(30 * time.Second)
		before := server.swaps
		var sending sync.WaitGroup
		sending.Go(func() { check(t, node, "7") })
		synctest.Wait()
		for name, call := range changes {
			if err := atEnd(t, name, call); errors.Is(err, shared.ErrUnconfirmed) || errors.Is(err, shared.ErrAway) {
				t.Errorf("%s returns %v, want the context's error alone", name, err)
			}
		}
		atEnd(t, "Peek", reads["Peek"])
		sending.Wait()
		if n := server.swaps - before; n != 1 {
			t.Errorf("%d swaps, want only that of the message", n)
		}
	})
}

// queueTwo sends two messages of user 7. The swap of the first one ends after 1 s, and that of the
// second, with other messages that wait then, after 2 s.
func queueTwo(t *testing.T) (n *node, wait func()) {
	n = newServerInBubble(t, shared.Exact, dayOnly()).join()
	n.before = takes(time.Second)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if check(t, n, "7").Degraded {
				t.Error("a message without a context is degraded")
			}
		})
		synctest.Wait()
	}
	return n, wg.Wait
}

// A message whose context ends while others' swap is in progress is decided without the store. One
// that is being decided returns the context's error, and is spent.
func TestShared_ContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node, wait := queueTwo(t)
		for _, c := range []struct {
			after   time.Duration
			decided bool
		}{{500 * time.Millisecond, false}, {1500 * time.Millisecond, true}} {
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), c.after)
				defer cancel()
				v, err := node.Check(ctx, message("7"))
				if c.decided && !errors.Is(err, context.DeadlineExceeded) || !c.decided && (err != nil || !v.Allowed || !v.Degraded) {
					t.Errorf("a message whose context ends after %v: %+v, %v", c.after, v, err)
				}
			}()
		}
		wait()
		time.Sleep(3 * time.Second)
		node.exchange()
		if v, err := node.Peek(t.Context(), message("7")); err != nil || v.Remaining != 300-5 {
			t.Errorf("%d messages remain (%v), want %d: four are spent, and the next", v.Remaining, err, 300-5)
		}
	})
}

// If the context ends while CheckAll waits for a message that somebody else is deciding, the other
// messages get their verdicts.
func TestShared_CheckAllLeavesOneMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node, wait := queueTwo(t)
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		verdicts := make([]chatguard.Verdict, 10)
		if err := node.CheckAll(ctx, messagesOf(len(verdicts)), verdicts); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("CheckAll: %v, want the context's error", err)
		}
		for i, v := range verdicts {
			if v.Allowed != (i != 7) {
				t.Errorf("message %d: %+v, want all allowed but message 7", i, v)
			}
		}
		wait()
	})
}

// Wait spends nothing if its context ends while another goroutine decides its message.
func TestWait_SharedContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node, wait := queueTwo(t)
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		if _, err := node.Wait(ctx, message("7")); err == nil {
			t.Error("Wait allows a message after its context has ended")
		}
		wait()
		if got := used(t, node); got != 3 {
			t.Errorf("%d messages count, want 3", got)
		}
	})
}
