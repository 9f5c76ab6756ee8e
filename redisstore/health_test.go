package redisstore

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/waittest"
)

// TestHealth_Refusing checks that a server that refuses swaps is a problem with a fix, until it
// makes a swap again. A swap that only compares shows nothing.
func TestHealth_Refusing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *redisServer, s *Store) {
		refusing := func(want bool) {
			t.Helper()
			if h := s.Health(); !h.Up || h.Refusing != want || strings.Contains(h.Problem, "memory is full: raise maxmemory") != want {
				t.Errorf("refusing %t: %+v", want, h)
			}
		}
		check(t, s, one("a", "", "1"), true)
		refusing(false)
		r.must("CONFIG", "SET", "maxmemory", "1")
		if attempt(t, s, one("a", "1", "2")).Err == nil {
			t.Fatal("the swap isn't refused")
		}
		refusing(true)
		check(t, s, one("a", "1", "1"), true)
		refusing(true)
		r.must("CONFIG", "SET", "maxmemory", "0")
		check(t, s, one("a", "1", "2"), true)
		refusing(false)
	})
}

// TestHealth_NotListed checks that a node that can't be listed says why, in words, until it is
// listed again. Swaps would be refused too, or can't be made, although none was tried.
func TestHealth_NotListed(t *testing.T) {
	t.Parallel()
	causes := maps.Clone(noWritesCauses)
	causes["read only"] = noWritesCause{func(r *redisServer) func() {
		r.must("REPLICAOF", "127.0.0.1", "1")
		return func() { r.must("REPLICAOF", "NO", "ONE") }
	}, "the server is a replica: name the primary, or use redis+sentinel://"}
	causes["password"] = noWritesCause{func(r *redisServer) func() {
		client := r.client()
		do := func(args ...string) {
			must(r.t, client.Do(r.t.Context(), client.B().Arbitrary(args...).Build()).Error())
		}
		do("CONFIG", "SET", "requirepass", "secret")
		do("CLIENT", "KILL", "TYPE", "pubsub")
		do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
		return func() { do("CONFIG", "SET", "requirepass", ""); client.Close() }
	}, "the server asks for a password: set Options.Password"}
	for name, cause := range causes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startRedis(t)
			var log waittest.Output
			s := open(t, r.URL(), Options{Logger: logTo(&log), Timeout: time.Second})
			run(t, s, &fakeGuard{})
			eventually(t, "the node is listed", func() bool {
				_, numbered := s.Number()
				return s.Health().Nodes == 1 && numbered
			})
			end := cause.begin(r)
			eventually(t, "the problem is known", func() bool {
				h := s.Health()
				return (h.Refusing || !h.Up && name == "read only") && strings.Contains(h.Problem, cause.problem) && strings.Contains(log.String(), cause.problem)
			})
			end()
			eventually(t, "the problem is over", func() bool {
				h, text := s.Health(), log.String()
				return h.Up && !h.Refusing && h.Problem == "" && (strings.Contains(text, "a problem of the shared store is over") || strings.Contains(text, "the shared store answers"))
			})
			if name != "read only" {
				wantLogged(t, &log, cause.problem)
			}
			if text := log.String(); strings.Contains(text, "OOM") || strings.Contains(text, "MISCONF") || strings.Contains(text, "READONLY") {
				t.Error(text)
			}
		})
	}
}
