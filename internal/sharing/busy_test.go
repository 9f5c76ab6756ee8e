package sharing_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/shared"
)

// busyNodes connects nodes that are 5 ms away from their store, which waits for at most 100 ms.
func busyNodes(n int) (nodes []*fakeShared, guards []*chatguard.Guard) {
	server := newFakeServer()
	for range n {
		node, guard := server.connect(chatguard.Policy{Mode: chatguard.ModeEnforce, Limits: []chatguard.Limit{chatguard.FixedWindowLimit("all", 1_000_000, time.Hour)}}, time.Now)
		node.timeout = 100 * time.Millisecond
		node.before = func(context.Context) error { time.Sleep(5 * time.Millisecond); return nil }
		node.after = func() error { time.Sleep(5 * time.Millisecond); return nil }
		nodes, guards = append(nodes, node), append(guards, guard)
	}
	return nodes, guards
}

// Nodes take turns at a row for which all of them have messages all the time, although the one that
// has swapped it would always be the first at the store.
func TestShared_BusyRow(t *testing.T) {
	for _, n := range []int{2, 5} {
		for _, senders := range []int{1, 8} { // each sends its next message when it has the verdict
			t.Run(fmt.Sprint(n, " nodes, ", senders, " senders"), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					_, guards := busyNodes(n)
					var mu sync.Mutex
					messages, sum := make([]int, n), 0
					end := time.Now().Add(10 * time.Second)
					var wg sync.WaitGroup
					for i := range n * senders {
						wg.Go(func() {
							time.Sleep(time.Duration(i%n) * time.Millisecond)
							for time.Now().Before(end) {
								began := time.Now()
								if v := check(t, guards[i%n], "7"); v.Degraded || time.Since(began) > time.Second {
									t.Errorf("degraded: %v, after %v", v.Degraded, time.Since(began))
								}
								mu.Lock()
								messages[i%n], sum = messages[i%n]+1, sum+1
								mu.Unlock()
							}
						})
					}
					wg.Wait()
					for _, of := range messages {
						if of < sum/n/2 {
							t.Errorf("the nodes decide %v messages, want about as many each", messages)
						}
					}
				})
			})
		}
	}
}

// While other nodes always win the competition for a row, a change of it says so. Messages and rows
// that the same call has beside it don't suffer.
func TestShared_AlwaysOvertaken(t *testing.T) {
	message := func(user string) chatguard.Message {
		return chatguard.Message{ChannelID: "c", User: chatguard.User{ID: user}}
	}
	for name, do := range map[string]func(t *testing.T, guard *chatguard.Guard){
		"edit": func(t *testing.T, guard *chatguard.Guard) {
			_, err := guard.Grant(t.Context(), chatguard.Key{ChannelID: "c", UserID: "a"}, "all", 5)
			if !errors.Is(err, shared.ErrAway) || !strings.Contains(fmt.Sprint(err), "other nodes change the same row") {
				t.Errorf("%v, want an ErrAway that says why", err)
			}
		},
		"messages": func(t *testing.T, guard *chatguard.Guard) {
			var wg sync.WaitGroup
			wg.Go(func() { check(t, guard, "b") })
			synctest.Wait()
			wg.Go(func() { // waits for b, and competes for a
				verdicts := make([]chatguard.Verdict, 2)
				if err := guard.CheckAll(t.Context(), []chatguard.Message{message("a"), message("b")}, verdicts); err != nil || !verdicts[0].Degraded || verdicts[1].Degraded {
					t.Errorf("%v; degraded: %v, %v, want true, false", err, verdicts[0].Degraded, verdicts[1].Degraded)
				}
			})
			synctest.Wait()
			time.Sleep(time.Second)
			if check(t, guard, "b").Degraded { // waits for the call
				t.Error("a message of another row is degraded")
			}
			wg.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nodes, guards := busyNodes(2)
				nodes[1].before, nodes[1].after = nil, nil
				nodes[0].before = func(context.Context) error {
					time.Sleep(5 * time.Millisecond)
					check(t, guards[1], "a")
					return nil
				}
				do(t, guards[0])
			})
		})
	}
}

// Rows that messages restore at the same time don't keep an exchange from restoring the others.
func TestShared_HealBesideMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes, guards := busyNodes(1)
		server, guard := nodes[0].server, guards[0]
		const users = 1000
		var wg sync.WaitGroup
		for i := range users {
			wg.Go(func() { check(t, guard, fmt.Sprint(i)) })
		}
		wg.Wait()
		server.lose()
		guard.Shared().Heal()
		var once sync.Once
		before := nodes[0].before
		nodes[0].before = func(ctx context.Context) error {
			once.Do(func() { // some of these rows are next
				for i := range users / 2 {
					wg.Go(func() { check(t, guard, fmt.Sprint(2*i)) })
				}
			})
			return before(ctx)
		}
		if err := guard.Shared().Exchange(t.Context()); err != nil && !errors.Is(err, shared.ErrAway) {
			t.Error(err)
		}
		wg.Wait()
		if restored := guard.Shared().Counts().Healed; restored != users {
			t.Errorf("%d of %d rows are restored", restored, users)
		}
	})
}
