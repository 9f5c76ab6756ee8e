package sharing_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/shared"
)

// textPolicy has limits on repeated text: again counts a user's, copies everyone's.
func textPolicy(again, copies chatguard.Limit) chatguard.Policy {
	p := enforcedDefault()
	again.Name, again.Per = "again", chatguard.PerUserText
	copies.Name, copies.Per, copies.Similar = "copies", chatguard.PerText, true
	p.Limits = append(p.Limits, again, copies)
	return p
}

// strictTexts allows a text twice a minute to each, and three times to all.
func strictTexts() chatguard.Policy {
	return textPolicy(chatguard.SlidingLogLimit("", 2, time.Minute), chatguard.SlidingLogLimit("", 3, time.Minute))
}

// drawMessage returns a message of one of three people, the first of whom is a moderator, with one
// of a few texts or a short one.
func drawMessage(random *rand.Rand, at time.Time) chatguard.Message {
	texts := []string{"one text that is long enough", "another text, long enough too", "another text, long enough too 47", "short"}
	m := chatguard.Message{ChannelID: "c", User: chatguard.User{ID: fmt.Sprint(random.IntN(3))}, Text: texts[random.IntN(len(texts))], SentAt: at, Cost: random.IntN(3)}
	if m.User.ID == "0" {
		m.User.Roles = chatguard.Roles{chatguard.RoleModerator}
	}
	return m
}

// Whatever node a message comes to, the verdict is that of a Guard alone, in every field. So are
// refunds and overrides.
func TestSameText_Exact(t *testing.T) {
	for _, l := range []chatguard.Limit{
		chatguard.TokenBucketLimit("", 3, 9*time.Second), chatguard.FixedWindowLimit("", 3, time.Minute), chatguard.UserWindowLimit("", 3, time.Minute),
		chatguard.SlidingWindowLimit("", 3, time.Minute), chatguard.SlidingLogLimit("", 3, time.Minute), chatguard.DailyWindowLimit("", 30),
		chatguard.CascadeLimit("", 2, 9*time.Second, 2, 20*time.Second),
	} {
		t.Run(string(l.Algorithm), func(t *testing.T) {
			policy := textPolicy(l, l)
			policy.Limits[len(policy.Limits)-1].Strikes, policy.Limits[len(policy.Limits)-2].CountThrottled = true, true
			server, at := newFakeServer(), sharedStart
			var guards []*chatguard.Guard
			for range 2 {
				_, guard := server.connect(policy, func() time.Time { return at })
				guards = append(guards, guard)
			}
			alone := mustNew(t, policy, &chatguard.Options{TextKey: testKey, Now: func() time.Time { return at }})
			random := rand.New(rand.NewPCG(3, 7))
			throttled := map[string]int{}
			for i := range 600 {
				at = at.Add(time.Duration(random.IntN(4000)) * time.Millisecond)
				m, guard := drawMessage(random, at), guards[random.IntN(2)]
				if i == 300 { // the moderator is judged, too
					for _, g := range []*chatguard.Guard{alone, guard} {
						must(t, g.SetUserOverride(t.Context(), chatguard.Key{ChannelID: "c", UserID: "0"}, chatguard.UserOverride{Exempt: chatguard.ExemptNever}))
					}
				}
				want, err := alone.Check(t.Context(), m)
				must(t, err)
				got, err := guard.Check(t.Context(), m)
				must(t, err)
				if !reflect.DeepEqual(comparableVerdict(got), comparableVerdict(want)) {
					t.Fatalf("message %d, %+v:\n got %+v\nwant %+v", i, m, got, want)
				}
				if throttled[want.Limit]++; want.Spent > 0 && random.IntN(5) == 0 {
					must(t, alone.Refund(t.Context(), want))
					must(t, guards[random.IntN(2)].Refund(t.Context(), got))
				}
			}
			if throttled["again"] == 0 || throttled["copies"] == 0 {
				t.Errorf("throttled %v, want some by each limit", throttled)
			}
		})
	}
}

// A moderator whose override isn't known needs one swap, and the next messages none, whatever their
// text is.
func TestSameText_ExemptFromMemory(t *testing.T) {
	server := newFakeServer()
	_, guard := server.connect(strictTexts(), sharedNoon)
	for i := range 5 {
		m := chatguard.Message{ChannelID: "c", User: chatguard.User{ID: "7", Roles: chatguard.Roles{chatguard.RoleModerator}}, Text: fmt.Sprint("a text with the number ", i)}
		if v, err := guard.Check(t.Context(), m); err != nil || !v.Exempt || !v.Print.IsZero() {
			t.Errorf("%+v, %v", v, err)
		}
	}
	if server.swaps != 1 {
		t.Errorf("%d swaps, want 1", server.swaps)
	}
}

// Before an exchange, each node counts by itself. Afterwards the last one knows what was written on
// any.
func TestSameText_Synchronised(t *testing.T) {
	_, _, guards, exchange := synchronised(t, 2, strictTexts(), sharedNoon)
	say := func(g *chatguard.Guard, user, limit string) (v chatguard.Verdict) {
		t.Helper()
		if v = check(t, g, user); v.Limit != limit {
			t.Errorf("user %s: throttled by %q, want %q", user, v.Limit, limit)
		}
		return v
	}
	spent := say(guards[0], "7", "")
	say(guards[1], "7", "")
	say(guards[0], "8", "")
	exchange()
	say(guards[1], "7", "again")
	say(guards[1], "9", "copies")
	must(t, guards[1].Refund(t.Context(), spent))
	exchange()
	say(guards[0], "7", "")
	say(guards[0], "7", "again")
}

// While the store is away, each node counts by itself. What it has allowed is written when the
// store is back.
func TestSameText_AwayThenPaidBack(t *testing.T) {
	server := newFakeServer()
	nodeA, a := server.connect(strictTexts(), sharedNoon)
	nodeB, b := server.connect(strictTexts(), sharedNoon)
	for _, node := range []*fakeShared{nodeA, nodeB} {
		node.setAway(true)
	}
	if v := check(t, a, "7"); !v.Allowed || !v.Degraded {
		t.Errorf("%+v", v)
	}
	if v := check(t, b, "7"); !v.Allowed || !v.Degraded {
		t.Errorf("%+v", v)
	}
	for _, node := range []*fakeShared{nodeA, nodeB} {
		node.setAway(false)
	}
	must(t, a.Shared().Exchange(t.Context()))
	must(t, b.Shared().Exchange(t.Context()))
	for _, g := range []*chatguard.Guard{a, b} {
		if v := check(t, g, "7"); v.Limit != "again" || v.Degraded {
			t.Errorf("%+v", v)
		}
		if n := g.Shared().Counts().Pending; n != 0 {
			t.Errorf("%d rows are pending", n)
		}
	}
	if v := check(t, b, "8"); !v.Allowed {
		t.Errorf("the third copy: %+v", v)
	}
	if v := check(t, a, "9"); v.Limit != "copies" {
		t.Errorf("the fourth copy: %+v", v)
	}
}

// A row of a text that a later version wrote can't be read, so its messages are judged without the
// store. Other texts are judged with it.
func TestSameText_UnreadableRow(t *testing.T) {
	server := newFakeServer()
	_, guard := server.connect(strictTexts(), sharedNoon)
	check(t, guard, "7")
	for key, data := range server.rows {
		if key[1][0] == '\x1f' {
			server.rows[key] = append([]byte{9}, data[1:]...)
		}
	}
	guard.Shared().InvalidateAll()
	if v := check(t, guard, "7"); !v.Allowed || !v.Degraded {
		t.Errorf("the same text: %+v", v)
	}
	v, err := guard.Check(t.Context(), chatguard.Message{ChannelID: "c", User: chatguard.User{ID: "8"}, Text: "another text, long enough too"})
	if err != nil || !v.Allowed || v.Degraded {
		t.Errorf("another text: %+v, %v", v, err)
	}
	if c := guard.Shared().Counts(); c.Unreadable != 1 || c.Problem == "" {
		t.Errorf("%+v", c)
	}
}

// Messages that wait for the store while the limits change are judged by the new limits, whose rows
// are others.
func TestSameText_LimitsChangeDuringSwap(t *testing.T) {
	for _, mode := range []shared.Mode{shared.Exact, shared.Synchronised} {
		synctest.Test(t, func(t *testing.T) {
			node := &slowRows{fakeShared: &fakeShared{server: newFakeServer(), clock: time.Now, timeout: time.Minute}, swaps: map[chatguard.Key]int{}}
			guard := mustNew(t, strictTexts(), &chatguard.Options{Shared: node, SharedMode: mode, TextKey: testKey})
			exchange := func() {
				if err := guard.Shared().Exchange(t.Context()); err != nil {
					t.Error(err)
				}
			}
			done := make(chan chatguard.Verdict)
			for i, length := range []int{0, 5, 6, 0} {
				go func() { done <- check(t, guard, "7") }()
				synctest.Wait()
				policy := strictTexts()
				policy.Limits[2].FromLength, policy.Limits[3].FromLength = length, length
				if err := guard.SetPolicy(policy); err != nil {
					t.Error(err)
				}
				if v := <-done; !v.Allowed || v.Degraded {
					t.Errorf("message %d: %+v", i, v)
				}
				exchange()
				time.Sleep(10 * time.Second) // for the limit on all of a user's messages
			}
			if node.most != 1 {
				t.Errorf("%d swaps of a row at the same time", node.most)
			}
			if v := check(t, guard, "7"); mode == shared.Exact && v.Limit != "again" || mode == shared.Synchronised && v.Limit != "" {
				t.Errorf("%s: with the first lengths again: %+v", mode, v)
			}
			exchange()
			if c := guard.Shared().Counts(); c.Pending != 0 {
				t.Errorf("%+v", c)
			}
		})
	}
}

// Limits on repeated text may come, go and change on each node while messages are judged, given
// back and exchanged.
func TestSameText_ConcurrentChanges(t *testing.T) {
	for _, mode := range []shared.Mode{shared.Exact, shared.Synchronised} {
		server := newFakeServer()
		var guards []*chatguard.Guard
		for i := range 2 {
			node := &fakeShared{server: server, number: uint8(i), clock: sharedNoon, timeout: time.Minute}
			guards = append(guards, mustNew(t, strictTexts(), &chatguard.Options{Shared: node, SharedMode: mode, TextKey: testKey}))
		}
		server.guards = guards
		var wg sync.WaitGroup
		work := func(g *chatguard.Guard, do func(g *chatguard.Guard, i int) error) {
			wg.Go(func() {
				for i := range 100 {
					if err := do(g, i); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		for k, guard := range guards {
			random := rand.New(rand.NewPCG(uint64(k), 1))
			work(guard, func(g *chatguard.Guard, _ int) error {
				v, err := g.Check(t.Context(), drawMessage(random, sharedStart))
				if err == nil && v.Spent > 1 {
					err = g.Refund(t.Context(), v)
				}
				return err
			})
			other := rand.New(rand.NewPCG(uint64(k), 2))
			work(guard, func(g *chatguard.Guard, _ int) error {
				messages := []chatguard.Message{drawMessage(other, sharedStart), drawMessage(other, sharedStart), drawMessage(other, sharedStart)}
				return g.CheckAll(t.Context(), messages, make([]chatguard.Verdict, len(messages)))
			})
			work(guard, func(g *chatguard.Guard, i int) error {
				policy := []chatguard.Policy{strictTexts(), withRoom(enforcedDefault()), enforcedDefault(), strictTexts()}[i%4]
				if i%4 == 3 {
					policy.Limits[2], policy.Limits[3] = policy.Limits[3], policy.Limits[2]
					policy.Limits[3].FromLength = 5
				}
				return g.SetPolicy(policy)
			})
			work(guard, func(g *chatguard.Guard, _ int) error { return g.Shared().Exchange(t.Context()) })
		}
		wg.Wait()
		for _, g := range guards {
			must(t, g.SetPolicy(strictTexts()))
			for range 2 {
				must(t, g.Shared().Exchange(t.Context()))
			}
			if c := g.Shared().Counts(); c.Pending != 0 || c.Unreadable != 0 {
				t.Errorf("%s: %+v", mode, c)
			}
		}
	}
}
