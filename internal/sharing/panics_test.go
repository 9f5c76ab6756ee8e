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

// panicsOnce lets the next request panic after a second, and others take this time.
func (n *node) panicsOnce(others time.Duration) {
	var once sync.Once
	n.before = func(context.Context) error {
		once.Do(func() {
			time.Sleep(time.Second)
			panic("the store panics")
		})
		time.Sleep(others)
		return nil
	}
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
		node, m := newServerInBubble(t, shared.Exact, dayOnly()).join(), message("7")
		for _, all := range []bool{false, true} {
			node.panicsOnce(0)
			var wg sync.WaitGroup
			wg.Go(func() {
				defer expectPanic(t)
				if all {
					node.CheckAll(t.Context(), []chatguard.Message{m, m}, make([]chatguard.Verdict, 2))
				} else {
					node.Check(t.Context(), m)
				}
			})
			synctest.Wait()
			for range 3 { // wait for the flight
				wg.Go(func() {
					if v := check(t, node, "7"); !v.Allowed || v.Degraded {
						t.Errorf("after the panic: %+v", v)
					}
				})
			}
			wg.Wait()
		}
		if node.exchange(); node.counts().Pending != 0 {
			t.Errorf("after an exchange: %+v", node.counts())
		}
	})
}

// A panic of the store during several decisions doesn't block a row for which they waited.
func TestShared_StorePanicsWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node := newServerInBubble(t, shared.Exact, dayOnly()).join()
		node.before = takes(10 * time.Second)
		var wg sync.WaitGroup
		wg.Go(func() { check(t, node, "7") })
		synctest.Wait() // user 7 has a flight
		node.panicsOnce(10 * time.Second)
		wg.Go(func() {
			defer expectPanic(t)
			node.CheckAll(t.Context(), []chatguard.Message{message("8"), message("7")}, make([]chatguard.Verdict, 2))
		})
		wg.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if v, err := node.Check(ctx, message("7")); err != nil || v.Degraded {
			t.Errorf("after the panic: %+v, %v", v, err)
		}
	})
}

// A panic of the store during an exchange doesn't keep rows from the next one.
func TestShared_PanicDuringExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node := newServerInBubble(t, shared.Exact, dayOnly()).join()
		node.setAway(true)
		check(t, node, "7")
		node.setAway(false)
		node.panicsOnce(0)
		func() {
			defer expectPanic(t)
			node.Shared().Exchange(t.Context())
		}()
		if node.exchange(); node.counts().Pending != 0 {
			t.Errorf("after the panic: %+v", node.counts())
		}
	})
}
