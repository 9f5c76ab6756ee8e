package redisstore

import (
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/shared"
)

// badInput is something that is wrong at the server. It concerns nobody, one user, or everyone.
type badInput struct {
	begin   func(r *redisServer) (end func())
	user    bool   // the verdicts of user 7 are degraded
	others  bool   // so are those of other users
	problem string // what Health, or Counts for a row, says meanwhile; empty if nothing
}

// badRow replaces the row of user 7 until the end.
func badRow(command ...string) func(r *redisServer) func() {
	return func(r *redisServer) func() {
		const key = "cg1:{u:7}:c:lobby"
		before := mustString(r.t, r.must("GET", key))
		bad := func() string { return r.text("OBJECT", "ENCODING", key) + " " + r.text("GET", key) }
		r.must("DEL", key)
		if command[0] == "half" {
			command = []string{"SET", before[:len(before)/2]}
		}
		r.must(append([]string{command[0], key}, command[1:]...)...)
		was := bad()
		return func() {
			if now := bad(); now != was {
				r.t.Errorf("the row was changed to %q", now)
			}
			r.must("DEL", key)
			r.must("SET", key, before)
		}
	}
}

// TestGuards_BadInput checks who is concerned by what is wrong at the server, that it is named, and
// that one turn of Run after its end, which takes a second, nobody is concerned any more.
func TestGuards_BadInput(t *testing.T) {
	t.Parallel()
	inputs := map[string]badInput{
		"row of a later version": {badRow("SET", "\x09a later version's row"), true, false, "the row was written by a later version of chatguard (version 9"},
		"row of garbage":         {badRow("SET", "garbage"), true, false, "the stored bytes aren't a row of chatguard, so another program uses keys of this namespace: set another namespace"},
		"half a row":             {badRow("half"), true, false, `channel "lobby", user "7": the stored state can't be read`},
		"a list as a row":        {badRow("RPUSH", "1"), true, false, "the key cg1:{u:7}:c:lobby has another type: delete it at the server"},
		"allkeys-lru": {func(r *redisServer) func() {
			r.must("CONFIG", "SET", "maxmemory", "100mb", "maxmemory-policy", "allkeys-lru")
			return func() { r.must("CONFIG", "SET", "maxmemory", "0") }
		}, false, false, "maxmemory-policy is allkeys-lru: set"},
		"no right to INFO": {func(r *redisServer) func() {
			r.must("ACL", "SETUSER", "default", "-info")
			return func() { r.must("ACL", "SETUSER", "default", "+info") }
		}, false, false, ""},
		"no right to write": {func(r *redisServer) func() {
			r.must("ACL", "SETUSER", "default", "-@write", "-@scripting")
			return func() { r.must("ACL", "SETUSER", "default", "+@all") }
		}, true, true, "lacks rights"},
	}
	for _, key := range []string{"cg1:nodes", "cg1:epoch"} {
		inputs["a hash as "+key] = badInput{func(r *redisServer) func() {
			r.must("RENAME", key, "before")
			r.must("HSET", key, "a", "b")
			return func() { r.must("RENAME", "before", key) }
		}, false, false, "the key " + key + " has another type: delete it at the server"}
	}
	for name, cause := range noWritesCauses {
		inputs[name] = badInput{cause.begin, true, true, cause.problem}
	}
	for name, input := range inputs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startRedis(t)
			s := open(t, r.URL(), Options{})
			g, err := chatguard.New(enforced(), &chatguard.Options{Shared: s, SharedMode: shared.Exact})
			must(t, err)
			n := node{Guard: g, store: s}
			turn := func() error {
				if err := s.registry.heartbeat(t.Context(), g.Shared()); err != nil {
					return err
				}
				return s.exchangeOnce(t.Context(), g.Shared(), 0)
			}
			send := func(user string, degraded bool) {
				t.Helper()
				if v := n.check(t, user, n.Now()); v.Degraded != degraded || !v.Allowed {
					t.Errorf("user %s: %+v, want degraded %t", user, v, degraded)
				}
			}
			must(t, turn())
			send("7", false)
			send("8", false)
			end := input.begin(r)
			g.Shared().InvalidateAll()
			for range evictionBeats {
				turn() // it may fail
			}
			send("7", input.user)
			send("8", input.others)
			if s.Health().Refusing != input.others {
				t.Errorf("%+v, want refusing %t", s.Health(), input.others)
			}
			problems := s.Health().Problem + "; " + g.Shared().Counts().Problem
			if !strings.Contains(problems, input.problem) || input.problem == "" && problems != "; " {
				t.Errorf("the problems are %q, want %q", problems, input.problem)
			}
			end()
			must(t, turn())
			send("7", false)
			send("8", false)
			send("9", false)
			if pending := g.Shared().Counts().Pending; pending != 0 {
				t.Errorf("%d rows are pending", pending)
			}
			if h := s.Health(); h.Refusing || h.Problem != "" {
				t.Errorf("after its end: %+v", h)
			}
		})
	}
}
