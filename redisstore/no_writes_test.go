package redisstore

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/waittest"
)

// noWritesCause is a reason why a server answers, but makes no changes. begin returns a function
// that ends it.
type noWritesCause struct {
	begin   func(r *redisServer) (end func())
	problem string
}

var noWritesCauses = map[string]noWritesCause{
	"memory full": {func(r *redisServer) func() {
		r.must("CONFIG", "SET", "maxmemory", "1")
		return func() { r.must("CONFIG", "SET", "maxmemory", "0") }
	}, "the server's memory is full: raise maxmemory"},
	"disk full": {func(r *redisServer) func() {
		dir, err := r.must("CONFIG", "GET", "dir").AsStrMap()
		must(r.t, err)
		must(r.t, os.RemoveAll(dir["dir"]))
		r.must("CONFIG", "SET", "save", "3600 1000000")
		r.must("BGSAVE")
		eventually(r.t, "the server can't save", func() bool { return r.info("persistence", "rdb_last_bgsave_status") == "err" })
		return func() { r.must("CONFIG", "SET", "save", "") }
	}, "the server can't save its data and refuses writes: see its log"},
}

// TestOpen_NoWrites checks that a node starts, and names the problem, while the server makes no
// changes: a new server, and one that has the namespace. The first heartbeat after the cause's end
// finds nothing to complain about.
func TestOpen_NoWrites(t *testing.T) {
	t.Parallel()
	for name, cause := range noWritesCauses {
		for _, used := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, used %t", name, used), func(t *testing.T) {
				t.Parallel()
				r := startRedis(t)
				var log waittest.Output
				url := "redis://" + withIfEqual(t, r)
				if used {
					open(t, url, Options{})
				}
				end := cause.begin(r)
				s, guard := open(t, url, Options{Logger: logTo(&log)}), &fakeGuard{}
				if h := s.Health(); !h.Up || !h.Refusing || strings.Count(h.Problem, cause.problem) != 1 || strings.Count(log.String(), cause.problem) != 1 {
					t.Errorf("%+v\n%s", h, log.String())
				}
				wantError(t, s.registry.heartbeat(t.Context(), guard), cause.problem)
				wantError(t, attempt(t, s, one("a", "", "1")).Err, cause.problem)
				end()
				must(t, s.registry.heartbeat(t.Context(), guard))
				if h := s.Health(); h.Problem != "" || h.Refusing || !h.IfEqual || s.server.known.Load().epoch == "" {
					t.Errorf("after the cause's end: %+v", h)
				}
				guard.wantHealed(t, 0)
				check(t, s, one("a", "", "1"), true)
				wantError(t, openRefused(t, url, Options{Placement: PlaceTogether}), "placed by PlaceByUser")
			})
		}
	}
}
