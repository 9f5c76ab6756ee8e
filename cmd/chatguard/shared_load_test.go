package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/checkclient"
	"github.com/chatguard/chatguard/internal/redistest"
	"github.com/chatguard/chatguard/internal/waittest"
	"github.com/chatguard/chatguard/internal/web"
	"github.com/chatguard/chatguard/shared"
)

// `make test-shared` sets it.
var whole = flag.Bool("whole", false, "tests of nodes that share limits use more users, messages and intervals")

// roomsWith is a configuration without Twitch, with a token bucket. more is the rest.
func roomsWith(burst int, refill, more string) string {
	return fmt.Sprintf(`
[check]
channels = ["hall"]
[web]
listen = "127.0.0.1:0"
[policy]
mode = "enforce"
[[limit]]
name = "burst"
algorithm = "token-bucket"
burst = %d
refill = %q
[penalties]
ladder = ["drop"]
%s`, burst, refill, more)
}

// startRooms starts nodes that servers ask. run starts one; nil means this binary.
func startRooms(t *testing.T, configuration string, tables []string, run func(i int, configuration string) *process) (nodes []*roomServer) {
	t.Helper()
	for i, table := range tables {
		s := &roomServer{T: t, configuration: filepath.Join(t.TempDir(), "chatguard.toml"), owner: webToken}
		must(t, os.WriteFile(s.configuration, []byte(configuration+table), 0o600))
		if run != nil {
			s.server, s.process = "Bearer "+webToken, run(i, s.configuration)
		} else {
			s.start()
		}
		nodes = append(nodes, s)
	}
	return nodes
}

// client returns a client that asks the node.
func (s *roomServer) client() *checkclient.Client {
	s.Helper()
	c, err := checkclient.New(strings.TrimRight(s.address, "/"), strings.TrimPrefix(s.server, "Bearer "), &checkclient.Options{FailClosed: true, Timeout: time.Minute})
	must(s.T, err)
	s.Cleanup(c.CloseIdleConnections)
	return c
}

// metric returns the value of a metric, with its labels.
func (s *roomServer) metric(name string) float64 {
	s.Helper()
	return findMetric(s.T, s.metrics(), name)
}

// findMetric returns the value that metrics have for a name with its labels.
func findMetric(t *testing.T, metrics, name string) float64 {
	t.Helper()
	_, after, found := strings.Cut("\n"+metrics, "\n"+name+" ")
	text, _, _ := strings.Cut(after, "\n")
	value, err := strconv.ParseFloat(text, 64)
	if !found || err != nil {
		t.Fatalf("%s: %v, in\n%s", name, err, metrics)
	}
	return value
}

// hammer sends messages of each user to all nodes in turn, from many goroutines at the same time.
// It returns how many are allowed.
func hammer(t *testing.T, nodes []*roomServer, prefix string, users, each int) int {
	t.Helper()
	var senders sync.WaitGroup
	var allowed atomic.Int64
	for i, n := range nodes {
		client, users, mine := n.client(), users, make(chan string)
		go func() {
			defer close(mine)
			for round := range each {
				for u := range users {
					if (round+u)%len(nodes) == i {
						mine <- prefix + strconv.Itoa(u)
					}
				}
			}
		}()
		for range 8 {
			senders.Go(func() {
				for user := range mine {
					v, err := client.Check(t.Context(), chatguard.Message{ChannelID: "hall", User: chatguard.User{ID: user}})
					if err != nil || v.Degraded {
						t.Errorf("%s: degraded %v, %v", user, v.Degraded, err)
					}
					if v.Allowed {
						allowed.Add(1)
					}
				}
			})
		}
	}
	senders.Wait()
	return int(allowed.Load())
}

// swaps returns how many swaps a node has made.
func (s *roomServer) swaps() float64 { return s.metric(`chatguard_shared_swaps_total{result="done"}`) }

// Synchronised nodes allow more than the burst only by what they hadn't compared yet, and count
// what exceeds it. Both nodes get a few messages, and then the test waits for their exchange. So
// the bound doesn't depend on the machine's speed: the messages that a node gets in T, at most two
// intervals and one exchange, are those of three steps.
func TestShared_Overshoot(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs several nodes for seconds")
	}
	t.Parallel()
	intervals := []string{"100ms"}
	if *whole {
		intervals = append(intervals, "1s")
	}
	const burst, step = 40, 4
	for _, interval := range intervals {
		t.Run(interval, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			var tables []string
			for i := range 2 {
				tables = append(tables, strings.Replace(sharedTable(server, fmt.Sprint("node-", i)), `"exact"`, `"synchronised"`, 1)+fmt.Sprintf("interval = %q\n", interval))
			}
			nodes := startRooms(t, roomsWith(burst, "1000h", ""), tables, nil)
			clients := []*checkclient.Client{nodes[0].client(), nodes[1].client()}
			overdrawn := func() float64 {
				return nodes[0].metric("chatguard_shared_overdrawn_messages_total") + nodes[1].metric("chatguard_shared_overdrawn_messages_total")
			}
			for user := 0; ; user++ {
				allowed, before := 0, overdrawn()
				for more := true; more; {
					var passed [2]int
					var swaps [2]float64
					var both sync.WaitGroup
					for i := range nodes {
						swaps[i] = nodes[i].swaps()
						both.Go(func() {
							for range step {
								v, err := clients[i].Check(t.Context(), chatguard.Message{ChannelID: "hall", User: chatguard.User{ID: fmt.Sprint("user-", user)}})
								if err != nil || v.Degraded {
									t.Errorf("degraded %v, %v", v.Degraded, err)
								}
								if v.Allowed {
									passed[i]++
								}
							}
						})
					}
					both.Wait()
					allowed += passed[0] + passed[1]
					for i := range nodes {
						waittest.Until(t, func() bool { return passed[i] == 0 || nodes[i].swaps() > swaps[i] })
					}
					more = passed != [2]int{}
				}
				over := allowed - burst
				t.Logf("%d messages are allowed, the burst is %d", allowed, burst)
				if over > 3*step {
					t.Errorf("%d messages are allowed, and the bound is %d", allowed, burst+3*step)
				}
				if over < 0 {
					t.Errorf("only %d messages are allowed", allowed)
				}
				if over > 0 {
					waittest.Until(t, func() bool { return overdrawn()-before >= float64(over) })
					if got := overdrawn() - before; got != float64(over) {
						t.Errorf("the metric says that %v messages exceeded the limit, and %d did", got, over)
					}
					waittest.Until(t, func() bool {
						var list web.Nodes
						nodes[0].sendAsOwner("GET", "nodes", &list)
						return slices.ContainsFunc(list.List, func(n shared.Node) bool { return n.Overshoot != nil && *n.Overshoot > 0 })
					})
					break
				}
				if user == 20 {
					t.Fatal("nobody got more than the burst, so the metric isn't tested")
				}
			}
			stopAll(t, nodes)
		})
	}
}

// One node needs one swap for each message that is allowed.
func TestShared_SwapsPerCheck(t *testing.T) {
	t.Parallel()
	users := 200
	if *whole {
		users = 3_000
	}
	server := redistest.Start(t)
	nodes := startRooms(t, roomsWith(3, "1000h", ""), []string{sharedTable(server, "node")}, nil)
	if allowed := hammer(t, nodes, "chatter-", users, 3); allowed != 3*users {
		t.Errorf("%d messages are allowed, want %d", allowed, 3*users)
	}
	if again := nodes[0].metric(`chatguard_shared_swaps_total{result="conflict"}`); nodes[0].swaps() != float64(3*users) || again != 0 {
		t.Errorf("%v swaps and %v conflicts for %d allowed messages", nodes[0].swaps(), again, 3*users)
	}
	nodes[0].stop(t)
}
