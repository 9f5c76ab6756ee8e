package redisstore

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/shared"
)

// memoryServer is a server in the test's process, for tests whose time is synctest's. It knows the
// commands of a Store without Run.
type memoryServer struct {
	delay time.Duration // of each reply

	mu      sync.Mutex
	values  map[string]string
	refuses string // the reply to every command but HELLO; empty if it answers
}

// dial returns a connection to the server.
func (m *memoryServer) dial(*net.Dialer, context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	go func() {
		defer server.Close()
		reader := bufio.NewReader(server)
		for {
			args, err := readCommand(reader)
			if err != nil {
				return
			}
			time.Sleep(m.delay)
			if _, err := io.WriteString(server, m.reply(args)); err != nil {
				return
			}
		}
	}()
	return client, nil
}

func (m *memoryServer) refuse(reply string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refuses = reply
}

// reply executes a command.
func (m *memoryServer) reply(args []string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	bulk := func(text string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(text), text) }
	switch command := strings.ToUpper(args[0]); {
	case command == "HELLO":
		return hello("7.0.15", "standalone")
	case m.refuses != "":
		return "-" + m.refuses + "\r\n"
	case command == "TIME":
		now := time.Now()
		return fmt.Sprintf("*2\r\n:%d\r\n:%d\r\n", now.Unix(), now.Nanosecond()/1000)
	case command == "GET":
		if value, ok := m.values[args[1]]; ok {
			return bulk(value)
		}
		return "_\r\n"
	case command == "EVAL", command == "EVALSHA":
		rows, _ := strconv.Atoi(args[2])
		keys, rest := args[3:3+rows], args[3+rows:]
		for i, key := range keys {
			if m.values[key] != rest[3*i] {
				all := fmt.Sprintf("*%d\r\n", rows)
				for _, key := range keys {
					all += bulk(m.values[key])
				}
				return all
			}
		}
		for i, key := range keys {
			m.values[key] = rest[3*i+1]
		}
		return "_\r\n"
	}
	return "-ERR unknown command\r\n"
}

// start opens a node without Run, which only probes while the server is away.
func (m *memoryServer) start(t *testing.T) node {
	t.Helper()
	s, err := newStore("redis://127.0.0.1", &Options{Logger: quiet()})
	must(t, err)
	s.server.dialTCP = m.dial
	must(t, s.start(t.Context()))
	g, err := chatguard.New(enforced(), &chatguard.Options{Shared: s, SharedMode: shared.Exact})
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		s.server.watch(ctx)
	}()
	return node{g, s, func() { cancel(); <-watched; s.Close() }}
}

// TestOpen_Passing checks that a node starts, and one that runs goes on by itself, while the server
// answers every call with an error that time or an operator ends. Health names it, everyone is
// degraded, and a second after its end nobody is.
func TestOpen_Passing(t *testing.T) {
	for reply, problem := range map[string]string{
		"LOADING Redis is loading the dataset in memory":                              "the server is still loading its data: wait, it answers by itself",
		"READONLY You can't write against a read only replica.":                       "the server is a replica: name the primary, or use redis+sentinel://",
		"NOREPLICAS Not enough good replicas to write.":                               "the server has fewer replicas than min-replicas-to-write: connect replicas, or lower it",
		"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is 'no'.":   "the server is a replica that has lost its primary: start the primary",
		"CLUSTERDOWN The cluster is down":                                             "the Cluster is down, because not all slots are served: start its missing servers",
		"BUSY Redis is busy running a script. You can only call SCRIPT KILL.":         "a script keeps the server busy: end it with SCRIPT KILL",
		"TRYAGAIN Multiple keys request during rehashing of slot":                     "the server refuses: TRYAGAIN",
		"ERR max number of clients reached":                                           "the server refuses: max number of clients reached",
		"UNKNOWNCODE what a later version of the server says when it isn't available": "the server refuses: UNKNOWNCODE",
	} {
		code, _, _ := strings.Cut(reply, " ")
		t.Run(code, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &memoryServer{values: map[string]string{}, refuses: reply}
				n := m.start(t)
				defer n.stop()
				for _, state := range []string{"at the start", "later"} {
					if h := n.store.Health(); h.Up && !h.Refusing || !strings.Contains(h.Problem, problem) {
						t.Errorf("%s: %+v, want %s", state, h, problem)
					}
					if list := problems(t, n.store); len(list) != 1 || !strings.HasSuffix(problem, list[0].Fix) && !strings.Contains(list[0].Fix, "documentation") {
						t.Errorf("%s: the problems are %+v, want one with the fix of %s", state, list, problem)
					}
					for _, user := range []string{"7", "8"} {
						if v := n.check(t, user, time.Time{}); !v.Degraded || !v.Allowed {
							t.Errorf("%s: %+v", state, v)
						}
					}
					m.refuse("")
					time.Sleep(time.Second)
					must(t, n.store.exchangeOnce(t.Context(), n.Shared(), 0))
					if h := n.store.Health(); !h.Up || h.Problem != "" || n.Shared().Counts().Pending != 0 {
						t.Errorf("a second after its end: %+v, %+v", h, n.Shared().Counts())
					}
					if v := n.check(t, "7", time.Time{}); v.Degraded {
						t.Errorf("a second after its end: %+v", v)
					}
					m.refuse(reply)
					for range 4 { // together they take longer than it takes to be away
						n.check(t, "9", time.Time{})
					}
				}
			})
		})
	}
}

// TestGuards_Delay checks that nobody is degraded, and nothing is away, if each reply takes 10 ms.
func TestGuards_Delay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memoryServer{values: map[string]string{}, delay: 10 * time.Millisecond}
		a, b := m.start(t), m.start(t)
		defer a.stop()
		defer b.stop()
		allowed := 0
		at := a.Now()
		for range 10 {
			for _, n := range []node{a, b} {
				v := n.check(t, "7", at)
				if v.Degraded {
					t.Errorf("degraded: %+v", v)
				}
				if v.Allowed {
					allowed++
				}
			}
		}
		if allowed != 3 || !a.store.Health().Up || !b.store.Health().Up {
			t.Errorf("%d are allowed, want 3; %+v", allowed, a.store.Health())
		}
	})
}
