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

// large is a limit that no test reaches.
func large(scope chatguard.Scope) chatguard.Limit {
	return per(scope, chatguard.FixedWindowLimit(scope.String(), 100_000, time.Minute))
}

func withRoom(p chatguard.Policy) chatguard.Policy { return with(p, large(chatguard.PerChannel)) }

func withServer(p chatguard.Policy) chatguard.Policy { return with(p, large(chatguard.PerEverywhere)) }

func withText(p chatguard.Policy) chatguard.Policy {
	return with(p, large(chatguard.PerUserText), large(chatguard.PerText))
}

func withoutText(p chatguard.Policy) chatguard.Policy { return p }

// fromOtherLength is withText with other rows for the texts.
func fromOtherLength(p chatguard.Policy) chatguard.Policy {
	p = withText(p)
	p.Limits[len(p.Limits)-1].FromLength, p.Limits[len(p.Limits)-2].FromLength = 5, 6
	return p
}

// An exchange writes many rows in one round trip, also if they share a flight.
func TestExchange_SharedFlight(t *testing.T) {
	for _, policy := range []chatguard.Policy{dayOnly(), withRoom(dayOnly()), withServer(dayOnly()), withText(dayOnly())} {
		for _, mode := range bothModes {
			node := newServer(t, mode, policy).join()
			node.setAway(true)
			const users = 2000
			checkEach(t, node, users)
			trips := 0
			node.before = func(context.Context) error { trips++; return nil }
			node.setAway(false)
			if node.exchange(); node.counts().Pending != 0 || trips > users/100 {
				t.Errorf("%d limits, mode %s: %d round trips for %d users, %+v", len(policy.Limits), mode, trips, users, node.counts())
			}
		}
	}
}

// Limits of another scope, which come into force during a swap, don't let another swap of the same
// row begin.
func TestShared_ScopesChangeDuringSwap(t *testing.T) {
	for i := range 10 {
		mode := bothModes[i%2]
		change := []func(chatguard.Policy) chatguard.Policy{withRoom, withServer, withText, withoutText, fromOtherLength}[i/2]
		synctest.Test(t, func(t *testing.T) {
			policy := dayOnly()
			if i >= 6 {
				policy = withText(policy)
			}
			node := newServerInBubble(t, mode, policy).join()
			node.delay = time.Second
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() {
					check(t, node, "7")
					if err := node.Shared().Exchange(t.Context()); mode == shared.Synchronised && err != nil {
						t.Error(err)
					}
				})
				synctest.Wait()
				must(t, node.SetPolicy(change(dayOnly())))
			}
			wg.Wait()
			if node.most != 1 {
				t.Errorf("case %d: %d swaps of a row at the same time", i, node.most)
			}
			node.exchange()
			node.exchange()
			if v := check(t, node, "7"); v.Remaining != 297 || v.Degraded || node.counts().Pending != 0 {
				t.Errorf("case %d: %+v, %+v, want 297 messages left of 300", i, v, node.counts())
			}
		})
	}
}
