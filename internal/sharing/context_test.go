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
	throttled, err := guard.Check(t.Context(), m)
	must(t, err)
	taken, err := inner.At(guard, guard.Now()).PardonAll(t.Context(), []chatguard.Verdict{throttled})
	must(t, err)
	reads = map[string]func(context.Context) error{
		"Peek":          func(ctx context.Context) error { _, err := guard.Peek(ctx, m); return err },
		"UserOverride":  func(ctx context.Context) error { _, err := guard.UserOverride(ctx, m.Key()); return err },
		"UserOverrides": func(ctx context.Context) error { _, err := guard.UserOverrides(ctx, "c"); return err },
	}
	changes = map[string]func(context.Context) error{
		"Grant":    func(ctx context.Context) error { _, err := guard.Grant(ctx, m.Key(), "", 1); return err },
		"Refund":   func(ctx context.Context) error { return guard.Refund(ctx, r.Verdict) },
		"Cancel":   r.Cancel,
		"Pardon":   func(ctx context.Context) error { _, err := guard.Pardon(ctx, throttled); return err },
		"Reset":    func(ctx context.Context) error { return guard.Reset(ctx, m.Key()) },
		"Unpardon": func(ctx context.Context) error { return inner.At(guard, guard.Now()).Unpardon(ctx, m.Key(), taken) },
		"SetUserOverride": func(ctx context.Context) error {
			return guard.SetUserOverride(ctx, m.Key(), chatguard.UserOverride{Exempt: chatguard.ExemptNever})
		},
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

// A call ends with its context while the store doesn't answer. A change may have been made then.
func TestContext_StoreHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node, guard := newFakeServer().connect(dayOnly(), time.Now)
		reads, changes := calls(t, guard)
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
		server := newFakeServer()
		node, guard := server.connect(dayOnly(), time.Now)
		reads, changes := calls(t, guard)
		node.before = func(context.Context) error { time.Sleep(30 * time.Second); return nil }
		before := server.swaps
		var message sync.WaitGroup
		message.Go(func() { check(t, guard, "7") })
		synctest.Wait()
		for name, call := range changes {
			if err := atEnd(t, name, call); errors.Is(err, shared.ErrUnconfirmed) || errors.Is(err, shared.ErrAway) {
				t.Errorf("%s returns %v, want the context's error alone", name, err)
			}
		}
		atEnd(t, "Peek", reads["Peek"])
		message.Wait()
		if n := server.swaps - before; n != 1 {
			t.Errorf("%d swaps, want only that of the message", n)
		}
	})
}
