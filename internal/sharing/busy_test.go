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

// busyNodes returns nodes that are 5 ms away from their server, and wait for at most 100 ms for it.
func busyNodes(t *testing.T, n int) []*node {
	server := newServerInBubble(t, shared.Exact, enforced(chatguard.FixedWindowLimit("all", 1_000_000, time.Hour)))
	for range n {
		node := server.join()
		node.timeout = 100 * time.Millisecond
		node.before = func(context.Context) error { time.Sleep(5 * time.Millisecond); return nil }
		node.after = func() error { time.Sleep(5 * time.Millisecond); return nil }
	}
	return server.nodes
}

// Nodes take turns at a row for which all of them have messages all the time, although the one that
// has swapped it would always be the first at the server.
func TestShared_BusyRow(t *testing.T) {
	for _, n := range []int{2, 5} {
		for _, senders := range []int{1, 8} { // each sends its next message when it has the verdict
			synctest.Test(t, func(t *testing.T) {
				nodes := busyNodes(t, n)
				var mu sync.Mutex
				messages, sum := make([]int, n), 0
				end := time.Now().Add(10 * time.Second)
				var wg sync.WaitGroup
				for i := range n * senders {
					wg.Go(func() {
						time.Sleep(time.Duration(i%n) * time.Millisecond)
						for time.Now().Before(end) {
							began := time.Now()
							if v := check(t, nodes[i%n], "7"); v.Degraded || time.Since(began) > time.Second {
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
						t.Errorf("%d senders: the nodes decide %v messages, want about as many each", senders, messages)
					}
				}
			})
		}
	}
}

// While other nodes always win the competition for a row, a change of it says so. A message waits
// for at most 20 times the timeout, and messages of other rows in the same call don't suffer.
func TestShared_AlwaysOvertaken(t *testing.T) {
	overtaken := func(do func(t *testing.T, n *node)) {
		synctest.Test(t, func(t *testing.T) {
			nodes := busyNodes(t, 2)
			nodes[1].before, nodes[1].after = nil, nil
			nodes[0].before = func(context.Context) error {
				time.Sleep(5 * time.Millisecond)
				check(t, nodes[1], "a")
				return nil
			}
			do(t, nodes[0])
		})
	}
	overtaken(func(t *testing.T, n *node) {
		_, err := n.Grant(t.Context(), chatguard.Key{ChannelID: "c", UserID: "a"}, "all", 5)
		if !errors.Is(err, shared.ErrAway) || !strings.Contains(fmt.Sprint(err), "other nodes change the same row") {
			t.Errorf("%v, want an ErrAway that says why", err)
		}
	})
	overtaken(func(t *testing.T, n *node) {
		var wg sync.WaitGroup
		wg.Go(func() { check(t, n, "b") })
		synctest.Wait()
		wg.Go(func() { // waits for b, and competes for a
			verdicts := make([]chatguard.Verdict, 2)
			must(t, n.CheckAll(t.Context(), []chatguard.Message{message("a"), message("b")}, verdicts))
			if !verdicts[0].Degraded || verdicts[1].Degraded {
				t.Errorf("degraded: %v, %v, want true, false", verdicts[0].Degraded, verdicts[1].Degraded)
			}
		})
		synctest.Wait()
		time.Sleep(time.Second)
		wg.Go(func() { // waits for the call, and then competes for the rest of 20 times the timeout
			began := time.Now()
			if v := check(t, n, "a"); !v.Degraded || time.Since(began) > 2100*time.Millisecond {
				t.Errorf("degraded: %v, after %v", v.Degraded, time.Since(began))
			}
		})
		if check(t, n, "b").Degraded { // waits for the call
			t.Error("a message of another row is degraded")
		}
		wg.Wait()
	})
}

// Rows that messages restore at the same time don't keep an exchange from restoring the others.
func TestShared_HealBesideMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := busyNodes(t, 1)[0]
		const users = 1000
		var wg sync.WaitGroup
		for i := range users {
			wg.Go(func() { check(t, n, fmt.Sprint(i)) })
		}
		wg.Wait()
		n.server.lose()
		n.Shared().Heal()
		var once sync.Once
		before := n.before
		n.before = func(ctx context.Context) error {
			once.Do(func() { // some of these rows are next
				for i := range users / 2 {
					wg.Go(func() { check(t, n, fmt.Sprint(2*i)) })
				}
			})
			return before(ctx)
		}
		if err := n.Shared().Exchange(t.Context()); err != nil && !errors.Is(err, shared.ErrAway) {
			t.Error(err)
		}
		wg.Wait()
		if restored := n.counts().Healed; restored != users {
			t.Errorf("%d of %d rows are restored", restored, users)
		}
	})
}
