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
	again.Name, copies.Name, copies.Similar = "again", "copies", true
	return with(enforced(), per(chatguard.PerUserText, again), per(chatguard.PerText, copies))
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
			server := newServer(t, shared.Exact, policy)
			nodes := server.joinAll(2)
			alone := mustNew(t, policy, &chatguard.Options{TextKey: testKey, Now: server.clock})
			random := rand.New(rand.NewPCG(3, 7))
			throttled := map[string]int{}
			for i := range 600 {
				server.now = server.now.Add(time.Duration(random.IntN(4000)) * time.Millisecond)
				m, node := drawMessage(random, server.now), nodes[random.IntN(2)]
				if i == 300 { // the moderator is judged, too
					for _, g := range []*chatguard.Guard{alone, node.Guard} {
						must(t, g.SetUserOverride(t.Context(), chatguard.Key{ChannelID: "c", UserID: "0"}, chatguard.UserOverride{Exempt: chatguard.ExemptNever}))
					}
				}
				want, got := judge(t, alone, m), judge(t, node, m)
				if !reflect.DeepEqual(comparableVerdict(got), comparableVerdict(want)) {
					t.Fatalf("message %d, %+v:\n got %+v\nwant %+v", i, m, got, want)
				}
				if throttled[want.Limit]++; want.Spent > 0 && random.IntN(5) == 0 {
					must(t, alone.Refund(t.Context(), want))
					must(t, nodes[random.IntN(2)].Refund(t.Context(), got))
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
	server := newServer(t, shared.Exact, strictTexts())
	node := server.join()
	for i := range 5 {
		m := chatguard.Message{ChannelID: "c", User: chatguard.User{ID: "7", Roles: chatguard.Roles{chatguard.RoleModerator}}, Text: fmt.Sprint("a text with the number ", i)}
		if v := judge(t, node, m); !v.Exempt || !v.Print.IsZero() {
			t.Errorf("%+v", v)
		}
	}
	if server.swaps != 1 {
		t.Errorf("%d swaps, want 1", server.swaps)
	}
}

// Before an exchange, each node counts by itself. Afterwards the last one knows what was written on
// any.
func TestSameText_Synchronised(t *testing.T) {
	server := newServer(t, shared.Synchronised, strictTexts())
	a, b := server.join(), server.join()
	say := func(n *node, user, limit string) (v chatguard.Verdict) {
		t.Helper()
		if v = check(t, n, user); v.Limit != limit || v.Degraded {
			t.Errorf("user %s: throttled by %q, want %q, degraded %v", user, v.Limit, limit, v.Degraded)
		}
		return v
	}
	spent := say(a, "7", "")
	say(b, "7", "")
	say(a, "8", "")
	server.exchange()
	say(b, "7", "again")
	say(b, "9", "copies")
	must(t, b.Refund(t.Context(), spent))
	server.exchange()
	say(a, "7", "")
	say(a, "7", "again")
}

// While the store is away, each node counts by itself. What it has allowed is written when the
// store is back.
func TestSameText_AwayThenPaidBack(t *testing.T) {
	server, a, b := bothAway(t, strictTexts())
	for _, n := range server.nodes {
		if v := check(t, n, "7"); !v.Allowed || !v.Degraded {
			t.Errorf("%+v", v)
		}
	}
	server.setAway(false)
	server.exchange()
	for _, n := range server.nodes {
		if v := check(t, n, "7"); v.Limit != "again" || v.Degraded || n.counts().Pending != 0 {
			t.Errorf("%+v, %+v", v, n.counts())
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
	server := newServer(t, shared.Exact, strictTexts())
	node := server.join()
	check(t, node, "7")
	for key, data := range server.rows {
		if key[1][0] == '\x1f' {
			server.rows[key] = append([]byte{9}, data[1:]...)
		}
	}
	node.Shared().InvalidateAll()
	if v := check(t, node, "7"); !v.Allowed || !v.Degraded {
		t.Errorf("the same text: %+v", v)
	}
	other := message("8")
	other.Text = "another text, long enough too"
	if v := judge(t, node, other); !v.Allowed || v.Degraded {
		t.Errorf("another text: %+v", v)
	}
	if c := node.counts(); c.Unreadable != 1 || c.Problem == "" {
		t.Errorf("%+v", c)
	}
}

// Messages that wait for the store while the limits change are judged by the new limits, whose rows
// are others.
func TestSameText_LimitsChangeDuringSwap(t *testing.T) {
	for _, mode := range bothModes {
		synctest.Test(t, func(t *testing.T) {
			node := newServerInBubble(t, mode, strictTexts()).join()
			node.delay = time.Second
			done := make(chan chatguard.Verdict)
			for i, length := range []int{0, 5, 6, 0} {
				go func() { done <- check(t, node, "7") }()
				synctest.Wait()
				policy := strictTexts()
				policy.Limits[2].FromLength, policy.Limits[3].FromLength = length, length
				must(t, node.SetPolicy(policy))
				if v := <-done; !v.Allowed || v.Degraded {
					t.Errorf("message %d: %+v", i, v)
				}
				node.exchange()
				time.Sleep(10 * time.Second) // for the limit on all of a user's messages
			}
			if node.most != 1 {
				t.Errorf("%d swaps of a row at the same time", node.most)
			}
			if v := check(t, node, "7"); mode == shared.Exact && v.Limit != "again" || mode == shared.Synchronised && v.Limit != "" {
				t.Errorf("%s: with the first lengths again: %+v", mode, v)
			}
			if node.exchange(); node.counts().Pending != 0 {
				t.Errorf("%+v", node.counts())
			}
		})
	}
}

// Limits on repeated text may come, go and change on each node while messages are judged, given
// back and exchanged.
func TestSameText_ConcurrentChanges(t *testing.T) {
	for _, mode := range bothModes {
		server := newServer(t, mode, strictTexts())
		var wg sync.WaitGroup
		work := func(do func(i int) error) {
			wg.Go(func() {
				for i := range 100 {
					if err := do(i); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		for k, n := range server.joinAll(2) {
			random := rand.New(rand.NewPCG(uint64(k), 1))
			work(func(int) error {
				v, err := n.Check(t.Context(), drawMessage(random, sharedStart))
				if err == nil && v.Spent > 1 {
					err = n.Refund(t.Context(), v)
				}
				return err
			})
			other := rand.New(rand.NewPCG(uint64(k), 2))
			work(func(int) error {
				messages := []chatguard.Message{drawMessage(other, sharedStart), drawMessage(other, sharedStart), drawMessage(other, sharedStart)}
				return n.CheckAll(t.Context(), messages, make([]chatguard.Verdict, len(messages)))
			})
			work(func(i int) error {
				policy := []chatguard.Policy{strictTexts(), withRoom(enforced()), enforced(), strictTexts()}[i%4]
				if i%4 == 3 {
					policy.Limits[2], policy.Limits[3] = policy.Limits[3], policy.Limits[2]
					policy.Limits[3].FromLength = 5
				}
				return n.SetPolicy(policy)
			})
			work(func(int) error { return n.Shared().Exchange(t.Context()) })
		}
		wg.Wait()
		for _, n := range server.nodes {
			must(t, n.SetPolicy(strictTexts()))
			n.exchange()
			n.exchange()
			if c := n.counts(); c.Pending != 0 || c.Unreadable != 0 {
				t.Errorf("%s: %+v", mode, c)
			}
		}
	}
}
