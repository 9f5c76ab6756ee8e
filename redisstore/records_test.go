package redisstore

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/shared"
)

// recorded is a store whose Run doesn't run: a test makes its heartbeats.
type recorded struct {
	*Store
	server *redisServer
	guard  *fakeGuard
}

// beat does what Run does each second.
func (s recorded) beat(t *testing.T) error {
	t.Helper()
	return s.registry.heartbeat(t.Context(), s.guard)
}

func (s recorded) beatTwice(t *testing.T) {
	t.Helper()
	must(t, s.beat(t))
	must(t, s.beat(t))
}

func (s recorded) wantDocument(t *testing.T, want string, wantRevision int64) {
	t.Helper()
	if data, revision, err := s.Document(t.Context(), "p"); string(data) != want || revision != wantRevision || err != nil {
		t.Errorf("%q, %d, %v, want %q, %d", data, revision, err, want, wantRevision)
	}
}

// connectAgain makes a new connection, so that the next heartbeat examines the server.
func (s recorded) connectAgain(t *testing.T) {
	t.Helper()
	s.server.must("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
	eventually(t, "the node connects again", func() bool { return attempt(t, s.Store, one("a", "", "")).Done })
}

// wantRefused fails the test unless a heartbeat fails and Health has the problem. Rows must be as
// good as ever.
func (s recorded) wantRefused(t *testing.T, problem string) {
	t.Helper()
	wantError(t, s.beat(t), problem)
	if h := s.Health(); !h.Up || !strings.Contains(h.Problem, problem) {
		t.Errorf("%+v, want the problem %s", h, problem)
	}
	check(t, s.Store, one("a", "", "1"), true)
	check(t, s.Store, one("a", "1", ""), true)
}

func (s recorded) fill(full bool) {
	s.server.must("CONFIG", "SET", "maxmemory", map[bool]string{true: "1", false: "0"}[full])
}

const (
	foreignKeys = "another program uses keys that begin with cg1: set another namespace"
	memoryFull  = "the server's memory is full: raise maxmemory"
)

// TestRecords plays the table of docs/scaling.md: everything in Redis that isn't a row is lost,
// goes back to an earlier state, is overwritten by another program, or can't be written.
func TestRecords(t *testing.T) {
	t.Parallel()
	for name, play := range map[string]func(t *testing.T, r *redisServer, s recorded){
		"document lost": func(t *testing.T, r *redisServer, s recorded) {
			must(t, s.SetDocument(t.Context(), "p", []byte("one"), 0))
			must(t, s.SetDocument(t.Context(), "p", []byte("two"), 1))
			r.must("FLUSHALL")
			s.wantDocument(t, "", 0)
			must(t, s.SetDocument(t.Context(), "p", []byte("two"), 2)) // a node that knows it
			s.wantDocument(t, "two", 3)
		},
		"document earlier": func(t *testing.T, r *redisServer, s recorded) {
			r.must("SET", "cg1:policy:p", "2 two")
			must(t, s.SetDocument(t.Context(), "p", []byte("seven"), 7))
			if err := s.SetDocument(t.Context(), "p", []byte("three"), 2); !errors.Is(err, ErrConflict) {
				t.Errorf("a node that knows less: %v", err)
			}
			s.wantDocument(t, "seven", 8)
		},
		"document foreign": func(t *testing.T, r *redisServer, s recorded) {
			must(t, s.SetDocument(t.Context(), "good", []byte("one"), 0))
			for _, value := range []string{"garbage", "1 " + strings.Repeat("x", maxDocument)} {
				r.must("SET", "cg1:policy:odd", value)
				_, _, err := s.Document(t.Context(), "odd")
				wantError(t, err, "the key cg1:policy:odd ")
				wantError(t, err, "delete it at the server")
				var others []string
				err = s.ReadDocuments(t.Context(), []string{"odd", "good", "none"}, func(name string, data []byte, revision int64) {
					others = append(others, fmt.Sprint(name, revision, string(data)))
				})
				if err == nil || !slices.Equal(others, []string{"good1one", "none0"}) {
					t.Errorf("%v, %v", others, err)
				}
			}
			r.must("DEL", "cg1:policy:odd")
			r.must("RPUSH", "cg1:policy:odd", "1")
			const problem = "the key cg1:policy:odd has another type: delete it at the server"
			wantError(t, s.SetDocument(t.Context(), "odd", nil, 0), problem)
			if p := s.Health().Problem; !strings.Contains(p, problem) {
				t.Error(p)
			}
			r.must("DEL", "cg1:policy:odd")
			if must(t, s.beat(t)); s.Health().Problem != "" {
				t.Error(s.Health().Problem)
			}
		},
		"document full": func(t *testing.T, _ *redisServer, s recorded) {
			must(t, s.SetDocument(t.Context(), "p", []byte("one"), 0))
			s.fill(true)
			if err := s.SetDocument(t.Context(), "p", []byte("two"), 1); err == nil || errors.Is(err, shared.ErrUnconfirmed) || !strings.Contains(err.Error(), memoryFull) {
				t.Error(err)
			}
			s.wantDocument(t, "one", 1)
			s.fill(false)
			must(t, s.SetDocument(t.Context(), "p", []byte("two"), 1))
		},
		"nodes lost": func(t *testing.T, r *redisServer, s recorded) {
			r.must("DEL", "cg1:nodes", s.Store.server.keys.node(s.registry.id()))
			must(t, s.beat(t))
			if nodes, err := s.Nodes(t.Context()); err != nil || len(nodes) != 1 || !nodes[0].Self {
				t.Errorf("%+v, %v", nodes, err)
			}
		},
		"nodes earlier": func(t *testing.T, r *redisServer, s recorded) { // the records have expired
			r.must("SADD", "cg1:nodes", "gone.1", "gone.2")
			must(t, s.beat(t))
			if ids, err := r.must("SMEMBERS", "cg1:nodes").AsStrSlice(); err != nil || !slices.Equal(ids, []string{s.registry.id()}) {
				t.Errorf("%q, %v", ids, err)
			}
		},
		"nodes foreign": func(t *testing.T, r *redisServer, s recorded) {
			r.must("SADD", "cg1:nodes", "text", "list", "huge", "nameless")
			r.must("SET", "cg1:node:text", "{")
			r.must("RPUSH", "cg1:node:list", "1")
			r.must("SET", "cg1:node:huge", `{"name":"`+strings.Repeat("x", maxRecord)+`"}`)
			r.must("SET", "cg1:node:nameless", "{}")
			must(t, s.beat(t))
			if h := s.Health(); h.Nodes != 1 || h.Problem != "" {
				t.Errorf("%+v", h)
			}
			for _, f := range s.Diagnose(t.Context()) {
				if f.Name == "nodes" && (f.Level != Warning || f.Fix != "delete it at the server" || !strings.HasSuffix(f.Text, " wasn't written by a node")) {
					t.Errorf("%+v", f)
				}
			}
			wantFinding(t, s.Store, "nodes", Warning, "cg1:node:")
			r.must("DEL", "cg1:nodes")
			r.must("SET", "cg1:nodes", "garbage")
			s.Store.server.refusing.Store(&refusedChange{memoryFull, "cg1:nodes"})
			if err := s.beat(t); err == nil || s.Health().Refusing {
				t.Errorf("the server has stored the node's record, and refuses all changes: %v", err)
			}
			const problem = "the key cg1:nodes has another type: delete it at the server"
			s.wantRefused(t, problem)
			r.must("DEL", "cg1:nodes")
			s.fill(true)
			if err, h := s.beat(t), s.Health(); err == nil || !strings.Contains(h.Problem, memoryFull) || strings.Contains(h.Problem, problem) {
				t.Errorf("the key was deleted while the memory is full: %v, %+v", err, h)
			}
			s.fill(false)
			must(t, s.beat(t))
		},
		"nodes full": func(t *testing.T, _ *redisServer, s recorded) {
			s.fill(true)
			if err, h := s.beat(t), s.Health(); err == nil || !h.Refusing || strings.Count(h.Problem, memoryFull) != 1 {
				t.Errorf("%v, %+v", err, h)
			}
			s.fill(false)
			must(t, s.beat(t))
			if h := s.Health(); h.Problem != "" || h.Refusing || h.Nodes != 1 {
				t.Errorf("%+v", h)
			}
		},
		"number lost": func(t *testing.T, r *redisServer, s recorded) {
			n := s.wantNumber(t)
			r.must("FLUSHALL")
			must(t, s.beat(t))
			record, _ := r.must("GET", fmt.Sprint("cg1:number:", n)).ToString()
			if m := s.wantNumber(t); m != n || !strings.HasPrefix(record, s.Store.server.instance) {
				t.Errorf("number %d, want %d again; it is leased to %q", m, n, record)
			}
			r.must("FLUSHALL")
			r.must("SET", fmt.Sprint("cg1:number:", n), "another 1") // which was faster
			s.beatTwice(t)
			if m := s.wantNumber(t); m == n {
				t.Errorf("number %d, which another node has", m)
			}
		},
		"number earlier": func(t *testing.T, r *redisServer, s recorded) {
			n := s.wantNumber(t)
			r.must("SET", fmt.Sprint("cg1:number:", n), s.Store.server.instance+" 1") // a renewal is lost
			r.must("SET", "cg1:epoch", "another server's")
			s.beatTwice(t)
			if m := s.wantNumber(t); m != n {
				t.Errorf("number %d, want %d still", m, n)
			}
		},
		"number foreign": func(t *testing.T, r *redisServer, s recorded) {
			n := s.wantNumber(t)
			key := fmt.Sprint("cg1:number:", n)
			r.must("DEL", key)
			r.must("RPUSH", key, "1")
			s.number.lost.Store(true)
			s.wantRefused(t, otherType(key).text)
			r.must("DEL", key)
			r.must("SET", key, "garbage")
			s.beatTwice(t)
			if m := s.wantNumber(t); m == n {
				t.Errorf("number %d, whose key has another value", m)
			}
		},
		"number full": func(t *testing.T, _ *redisServer, s recorded) {
			n := s.wantNumber(t)
			s.fill(true)
			s.number.lost.Store(true)
			if err := s.number.renew(t.Context()); err == nil || !strings.Contains(err.Error(), memoryFull) || s.wantNumber(t) != n {
				t.Errorf("%v, want the same number and an error", err)
			}
			s.fill(false)
			if must(t, s.beat(t)); s.wantNumber(t) != n {
				t.Error("another number")
			}
		},
		"epoch lost, earlier or foreign": func(t *testing.T, r *redisServer, s recorded) {
			garbage := strings.Repeat("\x00garbage\n", 1000)
			for i, command := range [][]string{{"DEL", "cg1:epoch"}, {"SET", "cg1:epoch", "an earlier one"}, {"SET", "cg1:epoch", garbage}} {
				r.must(command...)
				s.beatTwice(t)
				s.guard.wantHealed(t, i+1)
			}
			r.must("DEL", "cg1:epoch")
			r.must("RPUSH", "cg1:epoch", "1")
			const problem = "the key cg1:epoch has another type: delete it at the server"
			s.wantRefused(t, problem)
			wantError(t, openRefused(t, r.URL(), Options{}), problem)
			r.must("DEL", "cg1:epoch")
			must(t, s.beat(t))
			s.guard.wantHealed(t, 4)
		},
		"epoch full": func(t *testing.T, r *redisServer, s recorded) {
			r.must("DEL", "cg1:epoch")
			s.fill(true)
			s.connectAgain(t)
			if err := s.beat(t); err == nil {
				t.Error("the node is listed")
			}
			s.guard.wantHealed(t, 0)
			s.fill(false)
			s.beatTwice(t)
			s.guard.wantHealed(t, 1)
		},
		"format lost": func(t *testing.T, r *redisServer, s recorded) {
			r.must("FLUSHALL")
			must(t, s.beat(t))
			if format := mustString(t, r.must("GET", "cg1:format")); format != "1" {
				t.Errorf("%q", format)
			}
		},
		"format foreign": func(t *testing.T, r *redisServer, s recorded) {
			r.must("SET", "cg1:format", "garbage")
			must(t, s.beat(t)) // as long as it has the connection
			s.connectAgain(t)
			s.wantRefused(t, foreignKeys)
			r.must("SET", "cg1:format", "1")
			must(t, s.beat(t))
		},
		"clock foreign": func(t *testing.T, r *redisServer, s recorded) {
			key := s.Store.server.keys.clock()
			for _, command := range [][]string{{"RPUSH", key, "1"}, {"SET", key, "garbage"}} {
				r.must(command...)
				must(t, s.Store.server.measureOnce(t.Context()))
				if want := "another program has written the key " + key + ": delete it at the server: the nodes store theirs again"; s.Health().Problem != want {
					t.Errorf("%q: %q, want %q", command, s.Health().Problem, want)
				}
				if f := wantFinding(t, open(t, r.URL(), Options{}), "clock", Warning, "another program has written the key "+key); f.Fix != foreignRecordFix {
					t.Errorf("%q: %+v", command, f)
				}
				r.must("DEL", key)
				must(t, s.Store.server.measureOnce(t.Context()))
				if p := s.Health().Problem; p != "" {
					t.Errorf("afterwards: %s", p)
				}
			}
		},
		"scratch foreign": func(t *testing.T, r *redisServer, s recorded) {
			r.must("SET", "cg1:scratch", "garbage")
			open(t, r.URL(), Options{})
			r.must("DEL", "cg1:scratch")
			r.must("RPUSH", "cg1:scratch", "1")
			open(t, r.URL(), Options{})
			wantError(t, openRefused(t, "redis://"+withIfEqual(t, r), Options{}), "the key cg1:scratch has another type")
		},
		"doctor foreign": func(t *testing.T, r *redisServer, s recorded) {
			for _, command := range [][]string{{"SET", "cg1:doctor", "garbage"}, {"RPUSH", "cg1:doctor", "1"}, {"SET", "cg1:doctor:set", "garbage"}} {
				r.must(command...)
				for _, f := range s.Diagnose(t.Context()) {
					if f.Level != OK {
						t.Errorf("%q: %+v", command, f)
					}
				}
				r.must("DEL", "cg1:doctor", "cg1:doctor:set")
			}
		},
		"changes full": func(t *testing.T, _ *redisServer, s recorded) {
			s.fill(true)
			must(t, s.notices.publish(t.Context(), []string{"policy p " + s.Store.server.instance}))
		},
		"doctor full": func(t *testing.T, _ *redisServer, s recorded) {
			s.fill(true)
			if f := found(t, s.Store, "changes"); !strings.HasSuffix(f.Text+": "+f.Fix, memoryFull) {
				t.Errorf("%+v", f)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, store := startStore(t, Options{})
			s := recorded{store, r, &fakeGuard{}}
			must(t, s.beat(t))
			play(t, r, s)
		})
	}
}

// wantNumber returns the node's number.
func (s recorded) wantNumber(t *testing.T) int {
	t.Helper()
	n, ok := s.Number()
	if !ok {
		t.Error("the node has no number")
	}
	return n
}

// TestRecords_Overrides is TestRecords for the sets of users with an override.
func TestRecords_Overrides(t *testing.T) {
	t.Parallel()
	more := chatguard.UserOverride{Limits: map[string]chatguard.Override{"burst": {Burst: 100}}}
	key, other := chatguard.Key{ChannelID: "lobby", UserID: "7"}, chatguard.Key{ChannelID: "lobby", UserID: "8"}
	for name, play := range map[string]func(t *testing.T, r *redisServer, n node){
		"lost with the rows": func(t *testing.T, r *redisServer, n node) {
			r.must("FLUSHALL")
			eventually(t, "the node has restored the row, and the set", func() bool { return len(r.ownUsers("lobby")) == 1 })
		},
		"lost alone, or earlier": func(t *testing.T, r *redisServer, n node) {
			r.must("DEL", "cg1:own:lobby")
			for range 20 { // more than the policy allows
				if v := n.check(t, "7", n.Now()); !v.Allowed || v.Degraded {
					t.Fatalf("the override isn't in force: %+v", v)
				}
			}
			if users := r.ownUsers("lobby"); len(users) != 1 {
				t.Errorf("after a message, the set has %q", users)
			}
		},
		"foreign": func(t *testing.T, r *redisServer, n node) {
			r.must("DEL", "cg1:own:lobby")
			r.must("SET", "cg1:own:lobby", "garbage")
			const problem = "the key cg1:own:lobby has another type: delete it at the server"
			_, err := n.UserOverrides(t.Context(), "lobby")
			wantError(t, err, problem)
			wantError(t, n.SetUserOverride(t.Context(), other, more), problem)
			if h := n.store.Health(); !strings.Contains(h.Problem, problem) || h.Refusing {
				t.Errorf("%+v", h)
			}
			if v := n.check(t, "8", n.Now()); !v.Allowed || v.Degraded {
				t.Errorf("a user without an override: %+v", v)
			}
			if v := n.check(t, "7", n.Now()); !v.Allowed || !v.Degraded {
				t.Errorf("a user with an override: %+v", v)
			}
			r.must("DEL", "cg1:own:lobby")
			eventually(t, "the message is paid", func() bool { return n.Shared().Counts().Pending == 0 })
			if v := n.check(t, "7", n.Now()); !v.Allowed || v.Degraded {
				t.Errorf("a user with an override, afterwards: %+v", v)
			}
			must(t, n.SetUserOverride(t.Context(), other, more))
			eventually(t, "the problem is over", func() bool { return n.store.Health().Problem == "" })
		},
		"full": func(t *testing.T, r *redisServer, n node) {
			r.must("CONFIG", "SET", "maxmemory", "1")
			wantError(t, n.SetUserOverride(t.Context(), key, chatguard.UserOverride{}), memoryFull)
			if all, err := n.UserOverrides(t.Context(), "lobby"); err != nil || len(all["7"].Limits) != 1 {
				t.Errorf("%+v, %v", all, err)
			}
			r.must("CONFIG", "SET", "maxmemory", "0")
			must(t, n.SetUserOverride(t.Context(), key, chatguard.UserOverride{}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startRedis(t)
			n := startNodes(t, r.URL(), 1, enforced(), Options{}, shared.Exact)[0]
			must(t, n.SetUserOverride(t.Context(), key, more))
			play(t, r, n)
		})
	}
}
