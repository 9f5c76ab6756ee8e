package redisstore

import (
	"strings"
	"testing"

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

// TestHealth_NotListed checks that a node that can't be listed says why, in words.
func TestHealth_NotListed(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	var log waittest.Output
	s := open(t, r.URL(), Options{Logger: logTo(&log)})
	run(t, s, &fakeGuard{})
	eventually(t, "the node is listed", func() bool { return s.Health().Nodes == 1 })
	r.must("CONFIG", "SET", "maxmemory", "1")
	eventually(t, "the problem is known", func() bool {
		return strings.Contains(s.Health().Problem, "memory is full: raise maxmemory") && strings.Contains(log.String(), "memory is full: raise maxmemory")
	})
	if text := log.String(); strings.Contains(text, "OOM") {
		t.Error(text)
	}
	r.must("CONFIG", "SET", "maxmemory", "0")
	eventually(t, "the problem is over", func() bool { return s.Health().Problem == "" })
}
