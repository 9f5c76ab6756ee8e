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
		server := newServerInBubble(t, shared.Exact, dayOnly())
		node := server.join()
		node.before = takes(time.Second)
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() { check(t, node, "7") })
		}
		wg.Wait()
		if node.most != 1 || server.writes > 3 {
			t.Errorf("%d swaps at once and %d in all for 50 messages, want 1 and at most 3", node.most, server.writes)
		}
		if got := used(t, node); got != 51 {
			t.Errorf("%d messages count, want 51", got)
		}
	})
}

func TestShared_CheckAll(t *testing.T) {
	server := newServer(t, shared.Exact, sharedPolicy())
	messages := make([]chatguard.Message, 100)
	for i := range messages {
		messages[i] = chatguard.Message{ChannelID: fmt.Sprint(i / 60), User: chatguard.User{ID: fmt.Sprint(i % 7)}}
	}
	got, want := judgeAll(t, server.join(), messages), judgeAll(t, mustNew(t, sharedPolicy(), &chatguard.Options{Now: sharedNoon}), messages)
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
	server := newServer(t, shared.Exact, enforced())
	ids := map[chatguard.EntryID]bool{}
	var last chatguard.EntryID
	for range 3 {
		node := server.join()
		server.now = server.now.Add(time.Millisecond)
		for i := range 8 {
			v := check(t, node, fmt.Sprint(i%2))
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
	server := newServer(t, shared.Exact, sharedPolicy())
	node := server.join()
	must(t, node.SetUserOverride(t.Context(), eight, exempt))
	send(t, node, 5)
	before := server.swaps
	for user, want := range map[string]bool{"7": false, "8": true, "9": false} {
		m := message(user)
		if got := inner.Of(node.Guard).IsExempt(m); got != want {
			t.Errorf("user %s is exempt: %t, want %t", user, got, want)
		}
		m.User.Roles = chatguard.Roles{chatguard.RoleModerator}
		if !inner.Of(node.Guard).IsExempt(m) {
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
	server := newServer(t, shared.Exact, sharedPolicy())
	node, key := server.join(), chatguard.Key{UserID: "7", Per: chatguard.PerUserEverywhere}
	own := chatguard.UserOverride{Limits: map[string]chatguard.Override{"everywhere": {Messages: 5}}}
	must(t, node.SetUserOverride(t.Context(), key, own))
	v := check(t, node, "7")
	before := server.swaps
	for _, quota := range inner.Of(node.Guard).Quotas(&v).List {
		if quota.Limit == "everywhere" && quota.Messages != 5 {
			t.Errorf("%+v, want the user's own 5 messages", quota)
		}
	}
	node.setAway(true)
	got, err := node.UserOverrides(t.Context(), "")
	if len(got) != 1 || !reflect.DeepEqual(got["7"], own) || !errors.Is(err, shared.ErrAway) || server.swaps != before {
		t.Errorf("while the store is away: %+v, %v, want that of user 7 and ErrAway; %d calls", got, err, server.swaps-before)
	}
	one, err := node.UserOverride(t.Context(), key)
	if !reflect.DeepEqual(one, own) || !errors.Is(err, shared.ErrAway) {
		t.Errorf("while the store is away: %+v, %v, want what is known and ErrAway", one, err)
	}
}

// While the store is away, each call says that its verdict is degraded.
func TestShared_DegradedWhileAway(t *testing.T) {
	node, m := newServer(t, shared.Exact, enforced()).join(), message("7")
	for _, away := range []bool{false, true, false} {
		node.setAway(away)
		all := judgeAll(t, node, []chatguard.Message{m, m})
		peeked, err := node.Peek(t.Context(), m)
		must(t, err)
		for call, v := range map[string]chatguard.Verdict{"CheckAll": all[1], "Peek": peeked, "Check": check(t, node, "8")} {
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
		for _, scope := range []chatguard.Scope{chatguard.PerUser, chatguard.PerChannel, chatguard.PerEverywhere} {
			t.Run(fmt.Sprintf("per %v, %v", scope, trip), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					limit := per(scope, chatguard.FixedWindowLimit("all", 400, time.Hour))
					server := newServerInBubble(t, shared.Exact, chatguard.Policy{Mode: chatguard.ModeEnforce, Limits: []chatguard.Limit{limit}})
					var degraded, allowed atomic.Int64
					var wg sync.WaitGroup
					for n := range 5 {
						node, delay := server.join(), seeded(7, uint64(n))
						node.answersAfter(func() time.Duration { return trip/2 + trip*time.Duration(delay(100))/1000 })
						for i := range 200 { // in 2 s
							wg.Go(func() {
								time.Sleep(time.Duration(10*i+delay(10)) * time.Millisecond)
								v := check(t, node, "7")
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

// answersAfter lets a store with the default timeout take this time for a request, and for its
// reply.
func (n *node) answersAfter(half func() time.Duration) {
	n.timeout = 100 * time.Millisecond
	n.before = func(context.Context) error { time.Sleep(half()); return nil }
	n.after = func() error { time.Sleep(half()); return nil }
}

// A node that has messages for a row all the time lets another node have it, too, although it is
// always the first of them at the store.
func TestShared_BusyNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServerInBubble(t, shared.Exact, chatguard.Policy{Mode: chatguard.ModeEnforce, Limits: []chatguard.Limit{chatguard.FixedWindowLimit("all", 9000, time.Hour)}})
		busy, other := server.join(), server.join()
		for _, n := range server.nodes {
			n.answersAfter(func() time.Duration { return 5 * time.Millisecond })
		}
		var wg sync.WaitGroup
		for i := range 3000 { // in 3 s
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				check(t, busy, "7")
			})
		}
		time.Sleep(23 * time.Millisecond)
		began := time.Now()
		if v := check(t, other, "7"); v.Degraded || time.Since(began) > 100*time.Millisecond {
			t.Errorf("%+v after %v", v, time.Since(began))
		}
		wg.Wait()
	})
}
