package redisstore

import (
	"flag"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard/shared"
)

// `make test-shared` sets it to 200,000.
var memoryUsers = flag.Int("users", 10_000, "how many users the server has in TestGuards_Memory")

// number returns a field of INFO.
func (r *redisServer) number(section, field string) int {
	r.t.Helper()
	n, err := strconv.Atoi(r.info(section, field))
	if err != nil {
		r.t.Fatalf("%s in INFO %s: %v", field, section, err)
	}
	return n
}

// TestGuards_Memory checks that what the server uses, with its table of keys, is at most 250 bytes
// for each user, and 200 with a Valkey that embeds keys and rows in one block (8.1 and later).
func TestGuards_Memory(t *testing.T) {
	t.Parallel()
	for _, binary := range binaries(t) {
		t.Run(filepath.Base(binary), func(t *testing.T) {
			t.Parallel()
			r := startServer(t, binary, "--save", "", "--appendonly", "no")
			most := 250
			if info := mustString(t, r.must("INFO", "server")); strings.Contains(info, "valkey_version:8.1") || strings.Contains(info, "valkey_version:9") {
				most = 200
			}
			nodes := startNodes(t, r.URL(), 2, enforced(), Options{}, shared.Exact)
			at := time.Now()
			send := func(from, to int) {
				const goroutines = 16
				var senders sync.WaitGroup
				for w := range goroutines {
					senders.Go(func() {
						for u := from + w; u < to; u += goroutines {
							for range 2 {
								nodes[w%2].check(t, strconv.Itoa(100_000_000+u), at)
							}
						}
					})
				}
				senders.Wait()
			}
			send(-1000, 0) // the connections have their buffers now
			before := r.number("memory", "used_memory")
			send(0, *memoryUsers)
			if rows := r.number("stats", "expired_keys"); rows > 0 {
				t.Fatalf("%d rows have expired", rows)
			}
			used := r.number("memory", "used_memory") - before
			t.Logf("%d users: %d bytes for each, of %d in all", *memoryUsers, used / *memoryUsers, used)
			if used > most**memoryUsers {
				t.Errorf("%d bytes for each user, want at most %d", used / *memoryUsers, most)
			}
		})
	}
}
