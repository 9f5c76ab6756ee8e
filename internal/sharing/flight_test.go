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

// withRoom returns a policy with a limit on the whole channel in addition.
func withRoom(p chatguard.Policy) chatguard.Policy {
	p.Limits = append(p.Limits, chatguard.Limit{Name: "room", Per: chatguard.PerChannel, Algorithm: chatguard.FixedWindow, Messages: 100_000, Every: time.Minute})
	return p
}

// withServer adds a limit for everyone in all channels.
func withServer(p chatguard.Policy) chatguard.Policy {
	p.Limits = append(p.Limits, chatguard.Limit{Name: "server", Per: chatguard.PerEverywhere, Algorithm: chatguard.FixedWindow, Messages: 100_000, Every: time.Minute})
	return p
}

// withText adds limits on repeated text.
func withText(p chatguard.Policy) chatguard.Policy {
	for _, per := range []chatguard.Scope{chatguard.PerUserText, chatguard.PerText} {
		p.Limits = append(p.Limits, chatguard.Limit{Name: per.String(), Per: per, Algorithm: chatguard.FixedWindow, Messages: 100_000, Every: time.Minute})
	}
	return p
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
		for _, mode := range []shared.Mode{shared.Exact, shared.Synchronised} {
			node := &fakeShared{server: newFakeServer(), clock: sharedNoon, timeout: time.Minute, away: true}
			guard := mustNew(t, policy, &chatguard.Options{Shared: node, SharedMode: mode, TextKey: testKey})
			const users = 2000
			checkEach(t, guard, users)
			trips := 0
			node.before = func(context.Context) error { trips++; return nil }
			node.setAway(false)
			if err := guard.Shared().Exchange(t.Context()); err != nil || guard.Shared().Counts().Pending != 0 {
				t.Errorf("%d limits, mode %s: %v, %+v", len(policy.Limits), mode, err, guard.Shared().Counts())
			}
			if trips > users/100 {
				t.Errorf("%d limits, mode %s: %d round trips for %d users", len(policy.Limits), mode, trips, users)
			}
		}
	}
}

// slowRows is a store that takes a second for each swap, and counts those of a row in progress.
type slowRows struct {
	*fakeShared
	counting sync.Mutex
	swaps    map[chatguard.Key]int
	most     int // of one row at the same time
}

func (s *slowRows) Swap(ctx context.Context, swaps []*shared.Swap) {
	s.count(swaps, 1)
	time.Sleep(time.Second)
	s.fakeShared.Swap(ctx, swaps)
	s.count(swaps, -1)
}

func (s *slowRows) count(swaps []*shared.Swap, n int) {
	s.counting.Lock()
	defer s.counting.Unlock()
	for _, swap := range swaps {
		for _, row := range swap.Rows {
			key := chatguard.Key{ChannelID: row.ChannelID, UserID: row.UserID}
			s.swaps[key] += n
			s.most = max(s.most, s.swaps[key])
		}
	}
}

// Limits of another scope, which come into force during a swap, don't let another swap of the same
// row begin.
func TestShared_ScopesChangeDuringSwap(t *testing.T) {
	for i := range 10 {
		mode := [...]shared.Mode{shared.Exact, shared.Synchronised}[i%2]
		change := []func(chatguard.Policy) chatguard.Policy{withRoom, withServer, withText, withoutText, fromOtherLength}[i/2]
		synctest.Test(t, func(t *testing.T) {
			node := &slowRows{fakeShared: &fakeShared{server: newFakeServer(), clock: time.Now, timeout: time.Minute}, swaps: map[chatguard.Key]int{}}
			policy := dayOnly()
			if i >= 6 {
				policy = withText(policy)
			}
			guard := mustNew(t, policy, &chatguard.Options{Shared: node, SharedMode: mode, TextKey: testKey})
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() {
					check(t, guard, "7")
					if err := guard.Shared().Exchange(t.Context()); mode == shared.Synchronised && err != nil {
						t.Error(err)
					}
				})
				synctest.Wait()
				if err := guard.SetPolicy(change(dayOnly())); err != nil {
					t.Error(err)
				}
			}
			wg.Wait()
			if node.most != 1 {
				t.Errorf("case %d: %d swaps of a row at the same time", i, node.most)
			}
			for range 2 {
				if err := guard.Shared().Exchange(t.Context()); err != nil {
					t.Error(err)
				}
			}
			if v := check(t, guard, "7"); v.Remaining != 297 || v.Degraded || guard.Shared().Counts().Pending != 0 {
				t.Errorf("case %d: %+v, %+v, want 297 messages left of 300", i, v, guard.Shared().Counts())
			}
		})
	}
}

// Wait spends nothing if its context ends while another goroutine decides its message.
func TestWait_SharedContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node, guard := newFakeServer().connect(dayOnly(), time.Now)
		node.before = func(context.Context) error { time.Sleep(time.Second); return nil }
		var wg sync.WaitGroup
		for range 2 { // the second waits for the first, and decides for Wait, too
			wg.Go(func() { check(t, guard, "7") })
			synctest.Wait()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		if _, err := guard.Wait(ctx, chatguard.Message{ChannelID: "c", User: chatguard.User{ID: "7"}}); err == nil {
			t.Error("Wait allows a message after its context has ended")
		}
		wg.Wait()
		if v := check(t, guard, "7"); v.Remaining != 297 {
			t.Errorf("%d remain after three messages, want 297", v.Remaining)
		}
	})
}
