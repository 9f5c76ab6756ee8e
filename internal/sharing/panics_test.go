package sharing_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/shared"
)

// panicking is a store that panics once.
type panicking struct {
	*fakeShared
	panics bool
}

func (p *panicking) Swap(ctx context.Context, swaps []*shared.Swap) {
	if p.panics {
		p.panics = false
		time.Sleep(time.Second)
		panic("the store panics")
	}
	p.fakeShared.Swap(ctx, swaps)
}

// expectPanic recovers from a panic. It is deferred.
func expectPanic(t *testing.T) {
	t.Helper()
	if recover() == nil {
		t.Error("the panic is swallowed")
	}
}

// A panic of the store, which a server may recover from, blocks nobody.
func TestShared_StorePanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node := &panicking{fakeShared: &fakeShared{server: newFakeServer(), clock: time.Now, timeout: time.Minute}}
		guard := mustNew(t, dayOnly(), &chatguard.Options{Shared: node})
		for _, all := range []bool{false, true} {
			node.panics = true
			var wg sync.WaitGroup
			wg.Go(func() {
				defer expectPanic(t)
				if m := (chatguard.Message{ChannelID: "c", User: chatguard.User{ID: "7"}}); all {
					guard.CheckAll(t.Context(), []chatguard.Message{m, m}, make([]chatguard.Verdict, 2))
				} else {
					guard.Check(t.Context(), m)
				}
			})
			synctest.Wait()
			for range 3 { // wait for the flight
				wg.Go(func() {
					if v := check(t, guard, "7"); !v.Allowed || v.Degraded {
						t.Errorf("after the panic: %+v", v)
					}
				})
			}
			wg.Wait()
		}
		if err := guard.Shared().Exchange(t.Context()); err != nil || guard.Shared().Counts().Pending != 0 {
			t.Errorf("Exchange: %v, %+v", err, guard.Shared().Counts())
		}
	})
}

// A panic of the store during several decisions doesn't block a row for which they waited.
func TestShared_StorePanicsWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node := &panicking{fakeShared: &fakeShared{server: newFakeServer(), clock: time.Now, timeout: time.Minute}}
		node.before = func(context.Context) error { time.Sleep(10 * time.Second); return nil }
		guard := mustNew(t, dayOnly(), &chatguard.Options{Shared: node})
		var wg sync.WaitGroup
		wg.Go(func() { check(t, guard, "7") })
		synctest.Wait() // user 7 has a flight
		node.panics = true
		wg.Go(func() {
			defer expectPanic(t)
			m := []chatguard.Message{{ChannelID: "c", User: chatguard.User{ID: "8"}}, {ChannelID: "c", User: chatguard.User{ID: "7"}}}
			guard.CheckAll(t.Context(), m, make([]chatguard.Verdict, 2))
		})
		wg.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		v, err := guard.Check(ctx, chatguard.Message{ChannelID: "c", User: chatguard.User{ID: "7"}})
		if err != nil || v.Degraded {
			t.Errorf("after the panic: %+v, %v", v, err)
		}
	})
}

// A panic of the store during an exchange doesn't keep rows from the next one.
func TestShared_PanicDuringExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node := &panicking{fakeShared: &fakeShared{server: newFakeServer(), clock: sharedNoon, timeout: time.Minute}}
		guard := mustNew(t, dayOnly(), &chatguard.Options{Shared: node})
		node.setAway(true)
		check(t, guard, "7")
		node.setAway(false)
		node.panics = true
		func() {
			defer expectPanic(t)
			guard.Shared().Exchange(t.Context())
		}()
		if err := guard.Shared().Exchange(t.Context()); err != nil || guard.Shared().Counts().Pending != 0 {
			t.Errorf("after the panic: %v, %+v", err, guard.Shared().Counts())
		}
	})
}
