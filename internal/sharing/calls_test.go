package sharing_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/shared"
)

// While a swap is in progress, other messages of the user wait, and are decided together.
func TestShared_OneSwapInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer()
		policy := enforcedDefault()
		policy.Limits = policy.Limits[1:]
		node, guard := server.connect(policy, time.Now)
		inFlight, most := 0, 0
		node.before = func(context.Context) error {
			node.mu.Lock()
			inFlight++
			most = max(most, inFlight)
			node.mu.Unlock()
			time.Sleep(time.Second)
			node.mu.Lock()
			inFlight--
			node.mu.Unlock()
			return nil
		}
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() { check(t, guard, "7") })
		}
		wg.Wait()
		if most != 1 || server.writes > 3 {
			t.Errorf("%d swaps at once and %d in all for 50 messages, want 1 and at most 3", most, server.writes)
		}
		if v := check(t, guard, "7"); v.Remaining != 300-51 {
			t.Errorf("%d messages remain, want %d", v.Remaining, 300-51)
		}
	})
}

// A message whose context ends while others' swap is in progress is decided without the store. One
// that is being decided returns the context's error, and is spent.
func TestShared_ContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer()
		policy := enforcedDefault()
		policy.Limits = policy.Limits[1:]
		node, guard := server.connect(policy, time.Now)
		node.before = func(context.Context) error { time.Sleep(time.Second); return nil }
		m := chatguard.Message{ChannelID: "c", User: chatguard.User{ID: "7"}}
		var wg sync.WaitGroup
		wg.Go(func() { check(t, guard, "7") }) // leads from 0 s to 1 s
		synctest.Wait()
		wg.Go(func() { // leads from 1 s to 2 s
			if v := check(t, guard, "7"); v.Degraded {
				t.Error("the second message is degraded")
			}
		})
		synctest.Wait()
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			if v, err := guard.Check(ctx, m); err != nil || !v.Allowed || !v.Degraded {
				t.Errorf("a message that was still waiting: %+v, %v", v, err)
			}
		})
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
			defer cancel()
			if _, err := guard.Check(ctx, m); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a message that was being decided: %v", err)
			}
		})
		wg.Wait()
		time.Sleep(3 * time.Second)
		must(t, guard.Shared().Exchange(t.Context()))
		if v, err := guard.Peek(t.Context(), m); err != nil || v.Remaining != 300-5 {
			t.Errorf("%d messages remain (%v), want %d: four are spent, and the next", v.Remaining, err, 300-5)
		}
	})
}

func TestShared_CheckAll(t *testing.T) {
	server := newFakeServer()
	_, guard := server.connect(sharedPolicy(), sharedNoon)
	alone := mustNew(t, sharedPolicy(), &chatguard.Options{Now: sharedNoon})
	messages := make([]chatguard.Message, 100)
	for i := range messages {
		messages[i] = chatguard.Message{ChannelID: fmt.Sprint(i / 60), User: chatguard.User{ID: fmt.Sprint(i % 7)}}
	}
	got, want := make([]chatguard.Verdict, len(messages)), make([]chatguard.Verdict, len(messages))
	must(t, errors.Join(guard.CheckAll(t.Context(), messages, got), alone.CheckAll(t.Context(), messages, want)))
	ids := map[chatguard.EntryID]bool{}
	for i := range got {
		if id := got[i].EntryID; id != 0 && ids[id] {
			t.Fatalf("message %d: the entry ID %d is not unique", i, id)
		} else {
			ids[id] = true
		}
		if !reflect.DeepEqual(comparableVerdict(got[i]), comparableVerdict(want[i])) {
			t.Fatalf("message %d:\n got %+v\nwant %+v", i, got[i], want[i])
		}
	}
	if server.swaps > 20 {
		t.Errorf("%d swaps for 100 messages, want one for each batch", server.swaps)
	}
}

// The entry IDs of different nodes differ, and later ones are larger.
func TestShared_EntryIDs(t *testing.T) {
	server := newFakeServer()
	now := sharedStart
	ids := map[chatguard.EntryID]bool{}
	var last chatguard.EntryID
	for range 3 {
		_, guard := server.connect(enforcedDefault(), func() time.Time { return now })
		now = now.Add(time.Millisecond)
		for i := range 8 {
			v := check(t, guard, fmt.Sprint(i%2))
			if v.EntryID == 0 {
				continue
			}
			if ids[v.EntryID] || v.EntryID>>53 != 0 {
				t.Errorf("entry ID %d isn't unique, or has more than 53 bits", v.EntryID)
			}
			ids[v.EntryID] = true
			last = max(last, v.EntryID)
		}
	}
	if local := sharedStart.UnixMilli() * 1000; int64(last) <= local {
		t.Errorf("entry ID %d is below those of a Guard alone (%d)", last, local)
	}
}

// TestShared_IsExempt checks that the question whether a user is exempt takes no call of the store,
// even for a user of whom nothing is known.
func TestShared_IsExempt(t *testing.T) {
	server := newFakeServer()
	_, guard := server.connect(sharedPolicy(), sharedNoon)
	must(t, guard.SetUserOverride(t.Context(), chatguard.Key{ChannelID: "c", UserID: "8"}, chatguard.UserOverride{Exempt: chatguard.ExemptAlways}))
	for range 5 {
		check(t, guard, "7")
	}
	before := server.swaps
	for user, want := range map[string]bool{"7": false, "8": true, "9": false} {
		m := chatguard.Message{ChannelID: "c", User: chatguard.User{ID: user}}
		if got := inner.Of(guard).IsExempt(m); got != want {
			t.Errorf("user %s is exempt: %t, want %t", user, got, want)
		}
		m.User.Roles = chatguard.Roles{chatguard.RoleModerator}
		if !inner.Of(guard).IsExempt(m) {
			t.Errorf("a moderator isn't exempt")
		}
	}
	if server.swaps != before {
		t.Errorf("%d calls of the store, want none", server.swaps-before)
	}
}

// TestShared_KnownOverrides checks what is asked about overrides without a call of the store, or
// while it is away: what the Guard knows.
func TestShared_KnownOverrides(t *testing.T) {
	server := newFakeServer()
	node, guard := server.connect(sharedPolicy(), sharedNoon)
	own := chatguard.UserOverride{Limits: map[string]chatguard.Override{"everywhere": {Messages: 5}}}
	must(t, guard.SetUserOverride(t.Context(), chatguard.Key{UserID: "7", Per: chatguard.PerUserEverywhere}, own))
	v := check(t, guard, "7")
	before := server.swaps
	for _, quota := range inner.Of(guard).Quotas(&v).List {
		if quota.Limit == "everywhere" && quota.Messages != 5 {
			t.Errorf("%+v, want the user's own 5 messages", quota)
		}
	}
	node.setAway(true)
	got, err := guard.UserOverrides(t.Context(), "")
	if len(got) != 1 || !reflect.DeepEqual(got["7"], own) || !errors.Is(err, shared.ErrAway) || server.swaps != before {
		t.Errorf("while the store is away: %+v, %v, want that of user 7 and ErrAway; %d calls", got, err, server.swaps-before)
	}
	one, err := guard.UserOverride(t.Context(), chatguard.Key{UserID: "7", Per: chatguard.PerUserEverywhere})
	if !reflect.DeepEqual(one, own) || !errors.Is(err, shared.ErrAway) {
		t.Errorf("while the store is away: %+v, %v, want what is known and ErrAway", one, err)
	}
}

// While the store is away, each call says that its verdict is degraded.
func TestShared_DegradedWhileAway(t *testing.T) {
	node, guard := newFakeServer().connect(enforcedDefault(), sharedNoon)
	m := chatguard.Message{ChannelID: "c", User: chatguard.User{ID: "7"}}
	for _, away := range []bool{false, true, false} {
		node.setAway(away)
		all := make([]chatguard.Verdict, 2)
		must(t, guard.CheckAll(t.Context(), []chatguard.Message{m, m}, all))
		peeked, err := guard.Peek(t.Context(), m)
		must(t, err)
		for call, v := range map[string]chatguard.Verdict{"CheckAll": all[1], "Peek": peeked, "Check": check(t, guard, "8")} {
			if v.Degraded != away {
				t.Errorf("away %t: %s returns %+v, degraded %t", away, call, v, v.Degraded)
			}
		}
	}
}

// A store that answers slowly isn't away, however long nodes compete for a row that all messages
// use: nothing is degraded, and nothing is allowed beyond the limit.
func TestShared_SlowStore(t *testing.T) {
	for _, trip := range []time.Duration{2 * time.Millisecond, 10 * time.Millisecond} {
		for _, per := range []chatguard.Scope{chatguard.PerUser, chatguard.PerChannel, chatguard.PerEverywhere} {
			t.Run(fmt.Sprintf("per %v, %v", per, trip), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					limit := chatguard.FixedWindowLimit("all", 400, time.Hour)
					limit.Per = per
					server := newFakeServer()
					var degraded, allowed atomic.Int64
					var wg sync.WaitGroup
					for n := range 5 {
						node, guard := server.connect(chatguard.Policy{Mode: chatguard.ModeEnforce, Limits: []chatguard.Limit{limit}}, time.Now)
						node.timeout = 100 * time.Millisecond // the default
						delay := seeded(7, uint64(n))
						half := func() { time.Sleep(trip/2 + trip*time.Duration(delay(100))/1000) }
						node.before = func(context.Context) error { half(); return nil }
						node.after = func() error { half(); return nil }
						for i := range 200 { // in 2 s
							wg.Go(func() {
								time.Sleep(time.Duration(10*i+delay(10)) * time.Millisecond)
								v := check(t, guard, "7")
								if v.Degraded {
									degraded.Add(1)
								}
								if v.Allowed {
									allowed.Add(1)
								}
							})
						}
					}
					wg.Wait()
					if degraded.Load() > 0 || allowed.Load() != 400 {
						t.Errorf("%d of 1000 messages are degraded, and %d allowed, want none and 400", degraded.Load(), allowed.Load())
					}
				})
			})
		}
	}
}

// A node that has messages for a row all the time lets another node have it, too, although it is
// always the first of them at the store.
func TestShared_BusyNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer()
		var guards []*chatguard.Guard
		for range 2 {
			node, guard := server.connect(chatguard.Policy{Mode: chatguard.ModeEnforce, Limits: []chatguard.Limit{chatguard.FixedWindowLimit("all", 9000, time.Hour)}}, time.Now)
			node.timeout = 100 * time.Millisecond
			half := func() { time.Sleep(5 * time.Millisecond) }
			node.before = func(context.Context) error { half(); return nil }
			node.after = func() error { half(); return nil }
			guards = append(guards, guard)
		}
		var wg sync.WaitGroup
		for i := range 3000 { // in 3 s
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				check(t, guards[0], "7")
			})
		}
		time.Sleep(23 * time.Millisecond)
		began := time.Now()
		if v := check(t, guards[1], "7"); v.Degraded || time.Since(began) > 100*time.Millisecond {
			t.Errorf("%+v after %v", v, time.Since(began))
		}
		wg.Wait()
	})
}
