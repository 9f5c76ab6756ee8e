package chatguard_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
)

var sharedStart = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// sharedPolicy has a limit of each scope, so that a decision uses three rows.
func sharedPolicy() chatguard.Policy {
	p := chatguard.DefaultPolicy()
	p.Mode = chatguard.Enforce
	p.Limits = append(p.Limits,
		chatguard.Limit{Name: "everywhere", Per: chatguard.PerUserEverywhere, Algorithm: chatguard.SlidingWindow, Messages: 8, Every: time.Minute},
		chatguard.Limit{Name: "room", Per: chatguard.PerChannel, Algorithm: chatguard.FixedWindow, Messages: 40, Every: time.Minute})
	return p
}

func enforcedDefault() chatguard.Policy {
	p := chatguard.DefaultPolicy()
	p.Mode = chatguard.Enforce
	return p
}

// comparableVerdict returns a verdict without the fields that differ between two Guards by design.
func comparableVerdict(v chatguard.Verdict) chatguard.Verdict {
	v.EntryID, v.Series = 0, 0
	return v
}

// Several Guards that share a store decide as one Guard alone.
func TestShared_DecidesAsOneGuard(t *testing.T) {
	for name, policy := range map[string]chatguard.Policy{"default": enforcedDefault(), "all scopes": sharedPolicy(), "observing": chatguard.DefaultPolicy()} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			now := sharedStart
			clock := func() time.Time { return now }
			server := newFakeServer()
			var guards []*chatguard.Guard
			for range 3 {
				_, guard := server.connect(policy, clock)
				guards = append(guards, guard)
			}
			alone, err := chatguard.New(policy, &chatguard.Options{Now: clock})
			if err != nil {
				t.Fatal(err)
			}
			var last chatguard.Verdict
			for i := range 6000 {
				now = now.Add(time.Duration(random.IntN(3000)) * time.Millisecond)
				user := chatguard.User{ID: fmt.Sprint(random.IntN(6)), Roles: chatguard.RolesOf([]chatguard.Role{chatguard.Everyone, chatguard.Subscriber, chatguard.Moderator}[random.IntN(3)])}
				m := chatguard.Message{ChannelID: fmt.Sprint(random.IntN(2)), User: user, Cost: random.IntN(3)}
				g := guards[random.IntN(len(guards))]
				key := m.Key()
				var want, got any
				var wantErr, gotErr error
				switch random.IntN(30) {
				case 0:
					want, wantErr = alone.Grant(key, "", 2)
					got, gotErr = g.Grant(key, "", 2)
				case 1:
					wantErr, gotErr = alone.Reset(key), g.Reset(key)
				case 2:
					o := chatguard.UserOverride{Timezone: "Asia/Tokyo", Limits: map[string]chatguard.Override{"burst": {Burst: 5}}}
					wantErr, gotErr = alone.SetUserOverride(key, o), g.SetUserOverride(key, o)
				case 3:
					o := chatguard.UserOverride{Exempt: chatguard.AlwaysExempt, ExemptUntil: now.Add(time.Minute)}
					wantErr, gotErr = alone.SetUserOverride(key, o), g.SetUserOverride(key, o)
				case 4:
					if last.Spent > 0 {
						wantErr, gotErr = alone.Refund(last), g.Refund(last)
					}
				case 5:
					want, wantErr = alone.Peek(m)
					got, gotErr = g.Peek(m)
				case 6:
					want, wantErr = alone.UserOverride(key)
					got, gotErr = g.UserOverride(key)
				default:
					want, wantErr = alone.Check(t.Context(), m)
					got, gotErr = g.Check(t.Context(), m)
				}
				if v, ok := want.(chatguard.Verdict); ok {
					last = v
					want, got = comparableVerdict(v), comparableVerdict(got.(chatguard.Verdict))
				}
				if !reflect.DeepEqual(got, want) || (gotErr == nil) != (wantErr == nil) {
					t.Fatalf("step %d, %+v:\n got %+v, %v\nwant %+v, %v", i, m, got, gotErr, want, wantErr)
				}
			}
			counts := guards[0].Sharing()
			if counts.FromMemory == 0 || counts.Conflicts == 0 || counts.Apart != 0 || counts.Owed != 0 || counts.Healed != 0 {
				t.Errorf("one of three nodes: %+v, want conflicts, decisions from memory, and no trouble", counts)
			}
		})
	}
}

// hammer sends messages of a few users through the Guards from many goroutines, all at the same
// time, and returns how many passed.
func hammer(t *testing.T, guards []*chatguard.Guard, users, rounds int, at time.Time) (allowed int) {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	for g, guard := range guards {
		for k := range 4 {
			wg.Go(func() {
				for i := range rounds {
					v, err := guard.Check(t.Context(), chatguard.Message{ChannelID: "c", User: chatguard.User{ID: fmt.Sprint((g + k + i) % users)}, SentAt: at})
					if err != nil {
						t.Error(err)
						return
					}
					if mu.Lock(); v.Allowed {
						allowed++
					}
					mu.Unlock()
				}
			})
		}
	}
	wg.Wait()
	return allowed
}

// All Guards together allow what one alone would, also if replies are lost.
func TestShared_NeverTooManyOrTooFew(t *testing.T) {
	for name, policy := range map[string]chatguard.Policy{"default": enforcedDefault(), "all scopes": sharedPolicy()} {
		for _, lossy := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, lossy %v", name, lossy), func(t *testing.T) {
				server := newFakeServer()
				var guards []*chatguard.Guard
				for range 3 {
					node, guard := server.connect(policy, func() time.Time { return sharedStart })
					if lossy {
						node.after = func() error {
							if rand.IntN(10) == 0 {
								return errReplyLost
							}
							return nil
						}
					}
					guards = append(guards, guard)
				}
				const users = 5
				at := sharedStart
				for range 4 {
					hammer(t, guards, users, 100, at)
					at = at.Add(4 * time.Second)
				}
				if !lossy {
					// 3 of the burst and one for each further round; the room has room for 40.
					fresh, err := chatguard.New(policy, nil)
					if err != nil {
						t.Fatal(err)
					}
					want := 0
					for round := range 4 {
						for i := range users * 4 {
							v, err := fresh.Check(t.Context(), chatguard.Message{ChannelID: "c", User: chatguard.User{ID: fmt.Sprint(i % users)}, SentAt: sharedStart.Add(time.Duration(round) * 4 * time.Second)})
							if err != nil {
								t.Fatal(err)
							}
							if v.Allowed {
								want++
							}
						}
					}
					got := 0
					for u := range users {
						e, err := guards[0].Explain(chatguard.Message{ChannelID: "c", User: chatguard.User{ID: fmt.Sprint(u)}, SentAt: at})
						if err != nil {
							t.Fatal(err)
						}
						got += e.Limits[1].Used
					}
					if got != want {
						t.Errorf("%d messages passed, want %d", got, want)
					}
				}
			})
		}
	}
}

// While the store is away, a Guard decides by what it knows. What it allows is owed, and written
// when the store is back.
func TestShared_AwayThenPaidBack(t *testing.T) {
	server := newFakeServer()
	now := sharedStart
	clock := func() time.Time { return now }
	nodeA, a := server.connect(enforcedDefault(), clock)
	nodeB, b := server.connect(enforcedDefault(), clock)
	nodeA.setAway(true)
	nodeB.setAway(true)
	for i := range 5 {
		for _, g := range []*chatguard.Guard{a, b} {
			v := check(t, g, "7")
			if v.Allowed != (i < 3) || !v.Degraded {
				t.Fatalf("message %d while the store is away: allowed %v, degraded %v", i, v.Allowed, v.Degraded)
			}
			if !v.Allowed && v.Strikes != 1 {
				t.Fatalf("message %d while the store is away: %d strikes, want 1", i, v.Strikes)
			}
		}
	}
	if err := a.Reset(chatguard.Key{ChannelID: "c", UserID: "7"}); !errors.Is(err, chatguard.ErrAway) {
		t.Errorf("Reset while the store is away: %v, want ErrAway", err)
	}
	if got := a.Sharing(); got.Owed != 1 || got.Apart != 5 {
		t.Errorf("while the store is away: %+v, want one row that owes, and 5 decisions apart", got)
	}
	nodeA.setAway(false)
	nodeB.setAway(false)
	for _, g := range []*chatguard.Guard{a, b} {
		if err := g.Exchange(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := g.Sharing(); got.Owed != 0 {
			t.Errorf("after the exchange: %+v, want nothing owed", got)
		}
	}
	// Six messages were allowed: a message passes when four of them are paid back, after 4 × 4 s.
	now = sharedStart.Add(16*time.Second - 1)
	if v := check(t, a, "7"); v.Allowed || v.Degraded || v.RetryAfter != 1 {
		t.Errorf("before the debt is paid back: %+v", v)
	}
	now = sharedStart.Add(16 * time.Second)
	if v := check(t, b, "7"); !v.Allowed {
		t.Errorf("after the debt is paid back: %+v", v)
	}
}

func check(t *testing.T, g *chatguard.Guard, user string) chatguard.Verdict {
	t.Helper()
	v, err := g.Check(t.Context(), chatguard.Message{ChannelID: "c", User: chatguard.User{ID: user}})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A swap whose reply is lost counts once, whether it happened or not.
func TestShared_LostReplies(t *testing.T) {
	for _, c := range []struct {
		name    string
		reaches bool
		others  int // writes of another node before the next message
		want    int // used
	}{
		{"it happened", true, 0, 2},
		{"it didn't happen", false, 0, 2},
		{"it didn't happen, another node wrote once", false, 1, 3},
		{"it happened, another node wrote once", true, 1, 3},
		{"it happened, another node wrote twice", true, 2, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := newFakeServer()
			policy := enforcedDefault()
			policy.Limits = policy.Limits[1:] // the day
			node, guard := server.connect(policy, func() time.Time { return sharedStart })
			_, other := server.connect(policy, func() time.Time { return sharedStart })
			if c.reaches {
				node.after = func() error { return errReplyLost }
			} else {
				node.before = func(context.Context) error { return errReplyLost }
			}
			if v := check(t, guard, "7"); !v.Allowed || !v.Degraded {
				t.Fatalf("with a lost reply: %+v", v)
			}
			node.before, node.after = nil, nil
			for range c.others {
				check(t, other, "7")
			}
			if v := check(t, guard, "7"); v.Degraded || 300-v.Remaining != c.want {
				t.Errorf("%d messages count, want %d (degraded %v)", 300-v.Remaining, c.want, v.Degraded)
			}
			if v := check(t, other, "7"); 300-v.Remaining != c.want+1 {
				t.Errorf("on the other node %d messages count, want %d", 300-v.Remaining, c.want+1)
			}
		})
	}
}

// A store that has lost writes gets them back from a node that remembers them.
func TestShared_LostWritesHeal(t *testing.T) {
	server := newFakeServer()
	now := sharedStart
	_, guard := server.connect(enforcedDefault(), func() time.Time { return now })
	_, other := server.connect(enforcedDefault(), func() time.Time { return now })
	check(t, guard, "7")
	early := server.save()
	check(t, guard, "7")
	check(t, guard, "7")
	server.restore(early) // a replica took over
	if v := check(t, guard, "7"); v.Allowed {
		t.Error("allowed after two writes were lost")
	}
	server.lose() // it starts empty
	now = now.Add(4 * time.Second)
	if v := check(t, guard, "7"); !v.Allowed || v.Remaining != 0 {
		t.Errorf("after all rows were lost: %+v, want the one message regained", v)
	}
	if v := check(t, other, "7"); v.Allowed {
		t.Error("the other node allows a message after the row came back")
	}
	if got := guard.Sharing().Healed; got != 2 {
		t.Errorf("%d rows came back, want 2", got)
	}
	now = now.Add(48 * time.Hour)
	server.lose()
	if v := check(t, guard, "7"); !v.Allowed || v.Remaining != 2 {
		t.Errorf("two days later: %+v, want a new user's", v)
	}
	if got := guard.Sharing().Healed; got != 2 {
		t.Errorf("a row that had no effect any more came back (%d)", got)
	}
}

// A node writes all rows again that it remembers, once it is told that the store has lost some.
func TestShared_Heal(t *testing.T) {
	server := newFakeServer()
	now := sharedStart
	_, guard := server.connect(enforcedDefault(), func() time.Time { return now })
	for _, user := range []string{"7", "8", "9"} {
		check(t, guard, user)
	}
	rows := server.save()
	server.lose()
	guard.Heal()
	if err := guard.Exchange(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := server.save(); !reflect.DeepEqual(got, rows) || guard.Sharing().Healed != 3 || guard.Sharing().Owed != 0 {
		t.Errorf("the server has %d rows again, want the %d as they were (%+v)", len(got), len(rows), guard.Sharing())
	}
	now = now.Add(48 * time.Hour)
	server.lose()
	guard.Heal()
	if err := guard.Exchange(t.Context()); err != nil || len(server.save()) != 0 {
		t.Errorf("%d rows come back after they have no effect any more (%v)", len(server.save()), err)
	}
}

// A reset isn't undone by another node that remembers the row from before, even if the store loses
// its rows.
func TestShared_ResetStays(t *testing.T) {
	server := newFakeServer()
	_, a := server.connect(enforcedDefault(), func() time.Time { return sharedStart })
	_, b := server.connect(enforcedDefault(), func() time.Time { return sharedStart })
	for range 3 {
		check(t, a, "7")
	}
	check(t, b, "7")
	if err := a.Reset(chatguard.Key{ChannelID: "c", UserID: "7"}); err != nil {
		t.Fatal(err)
	}
	server.lose()
	if v := check(t, b, "7"); !v.Allowed || v.Remaining != 2 {
		t.Errorf("after a reset: %+v, want a new user's", v)
	}
}

// A row that can't be read is left alone.
func TestShared_UnreadableRow(t *testing.T) {
	for name, data := range map[string][]byte{"a later version": {9, 1, 2, 3}, "garbage": []byte("hello")} {
		server := newFakeServer()
		server.rows[[2]string{"c", "7"}] = data
		_, guard := server.connect(enforcedDefault(), func() time.Time { return sharedStart })
		for i := range 4 {
			if v := check(t, guard, "7"); v.Allowed != (i < 3) || !v.Degraded {
				t.Errorf("%s, message %d: allowed %v, degraded %v", name, i, v.Allowed, v.Degraded)
			}
		}
		if v := check(t, guard, "8"); v.Degraded {
			t.Errorf("%s: another user is degraded, too", name)
		}
		if got := server.rows[[2]string{"c", "7"}]; string(got) != string(data) {
			t.Errorf("%s: the row is overwritten: %q", name, got)
		}
		if got := guard.Sharing(); got.Unreadable == 0 || got.Problem == "" {
			t.Errorf("%s: %+v, want the problem named", name, got)
		}
	}
}

// A policy change converts rows as a single Guard does, and everyone sees it at the next message.
func TestShared_SetPolicy(t *testing.T) {
	server := newFakeServer()
	now := sharedStart
	_, a := server.connect(enforcedDefault(), func() time.Time { return now })
	_, b := server.connect(enforcedDefault(), func() time.Time { return now })
	for range 3 {
		check(t, a, "7")
	}
	slower := enforcedDefault()
	slower.Limits[0].Refill = 8 * time.Second
	for _, g := range []*chatguard.Guard{a, b} {
		if err := g.SetPolicy(slower); err != nil {
			t.Fatal(err)
		}
	}
	if v := check(t, b, "7"); v.Allowed || v.RetryAfter != 8*time.Second {
		t.Errorf("after the refill was doubled: %+v", v)
	}
}

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
		if err := guard.Exchange(t.Context()); err != nil {
			t.Fatal(err)
		}
		if v, err := guard.Peek(m); err != nil || v.Remaining != 300-5 {
			t.Errorf("%d messages remain (%v), want %d: four are spent, and the next", v.Remaining, err, 300-5)
		}
	})
}

func TestShared_CheckAll(t *testing.T) {
	server := newFakeServer()
	_, guard := server.connect(sharedPolicy(), func() time.Time { return sharedStart })
	alone, err := chatguard.New(sharedPolicy(), &chatguard.Options{Now: func() time.Time { return sharedStart }})
	if err != nil {
		t.Fatal(err)
	}
	messages := make([]chatguard.Message, 100)
	for i := range messages {
		messages[i] = chatguard.Message{ChannelID: fmt.Sprint(i / 60), User: chatguard.User{ID: fmt.Sprint(i % 7)}}
	}
	got, want := make([]chatguard.Verdict, len(messages)), make([]chatguard.Verdict, len(messages))
	if err := errors.Join(guard.CheckAll(t.Context(), messages, got), alone.CheckAll(t.Context(), messages, want)); err != nil {
		t.Fatal(err)
	}
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
