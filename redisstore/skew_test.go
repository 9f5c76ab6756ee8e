package redisstore

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/shared"
)

// skewedLibrary replaces the functions of C that read the wall clock. The number of nanoseconds by
// which it is off is in the file that SKEW names. It uses system calls only, because the server's
// allocator reads the clock before the C library is ready: libfaketime fails there.
const skewedLibrary = `
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile long long *skew;

__attribute__((constructor)) static void open_skew(void) {
	const char *name = getenv("SKEW");
	int file = name ? open(name, O_RDONLY) : -1;
	if (file < 0) return;
	void *page = mmap(NULL, sizeof *skew, PROT_READ, MAP_SHARED, file, 0);
	if (page != MAP_FAILED) skew = page;
}

int clock_gettime(clockid_t id, struct timespec *t) {
	int failed = syscall(SYS_clock_gettime, id, t);
	if (failed || !skew || (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE)) return failed;
	long long at = t->tv_sec * 1000000000LL + t->tv_nsec + *skew;
	t->tv_sec = at / 1000000000LL;
	t->tv_nsec = at % 1000000000LL;
	return 0;
}

int gettimeofday(struct timeval *t, void *zone) {
	struct timespec now;
	int failed = clock_gettime(CLOCK_REALTIME, &now);
	t->tv_sec = now.tv_sec;
	t->tv_usec = now.tv_nsec / 1000;
	return failed;
}

time_t time(time_t *t) {
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	if (t) *t = now.tv_sec;
	return now.tv_sec;
}
`

// skewedServer is a redis-server whose wall clock differs from this machine's.
type skewedServer struct {
	*redisServer
	page []byte // shared with the server
}

// set sets how far the server's clock is ahead.
func (s *skewedServer) set(ahead time.Duration) {
	s.t.Helper()
	binary.NativeEndian.PutUint64(s.page, uint64(ahead))
	eventually(s.t, "the server's clock has jumped", func() bool {
		off := s.ahead() - ahead
		return off >= -2*time.Second && off <= 2*time.Second
	})
}

// ahead returns how far the server's clock is ahead of this machine's.
func (s *skewedServer) ahead() time.Duration {
	s.t.Helper()
	parts, err := s.must("TIME").AsStrSlice()
	must(s.t, err)
	seconds, err := strconv.ParseInt(parts[0], 10, 64)
	must(s.t, err)
	return time.Until(time.Unix(seconds, 0)).Round(time.Second)
}

func startSkewed(t *testing.T) *skewedServer {
	t.Helper()
	if testing.Short() {
		t.Skip("it needs a C compiler")
	}
	dir := t.TempDir()
	source, library, file := filepath.Join(dir, "skew.c"), filepath.Join(dir, "skew.so"), filepath.Join(dir, "skew")
	must(t, os.WriteFile(source, []byte(skewedLibrary), 0o600))
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-O1", "-o", library, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: run scripts/prepare.sh: %s", err, out)
	}
	must(t, os.WriteFile(file, make([]byte, 8), 0o600))
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	page, err := syscall.Mmap(int(f.Fd()), 0, 8, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	must(t, err)
	t.Cleanup(func() { syscall.Munmap(page) })
	s := &skewedServer{page: page}
	s.redisServer = startServer(t, "env", "SKEW="+file, "LD_PRELOAD="+library, "redis-server", "--save", "", "--appendonly", "no")
	return s
}

// The nodes use the server's clock, wherever their own is. Together they allow what one Guard
// allows at the same times.
func TestGuards_ServerClockOff(t *testing.T) {
	t.Parallel()
	r := startSkewed(t)
	for _, ahead := range []time.Duration{5 * time.Second, -5 * time.Second, 90 * time.Second, time.Hour, -24 * time.Hour} {
		t.Run(ahead.String(), func(t *testing.T) {
			r.set(ahead)
			policy := enforced(chatguard.TokenBucketLimit("burst", 3, time.Hour), chatguard.DailyWindowLimit("daily", 300))
			nodes := startNodes(t, r.URL(), 2, policy, Options{Namespace: ahead.String()}, shared.Exact)
			before := time.Now().Add(ahead - 2*time.Second)
			at, _ := nodes[0].store.Clock()
			if after := time.Now().Add(ahead + 2*time.Second); at.Before(before) || at.After(after) {
				t.Errorf("the nodes' clock shows %s, want %s to %s", at, before, after)
			}
			allowed, degraded := hammer(t, nodes, 100, 6, at)
			want := alone(t, policy).allows(t, 100, 6, at)
			if allowed != want || degraded != 0 {
				t.Errorf("%d are allowed and %d degraded, want %d and 0", allowed, degraded, want)
			}
		})
	}
}

// While the server's clock jumps, no message is lost or counted twice: nobody gets more than the
// burst, because nothing is refilled in the longest jump.
func TestGuards_ServerClockJumps(t *testing.T) {
	t.Parallel()
	r := startSkewed(t)
	policy := enforced(chatguard.TokenBucketLimit("burst", 5, 1000*time.Hour))
	nodes := startNodes(t, r.URL(), 2, policy, Options{}, shared.Exact)
	const users = 200
	var allowed [users]atomic.Int64
	round := func() {
		var wg sync.WaitGroup
		for i, n := range nodes {
			wg.Go(func() {
				for u := range users {
					if v := n.check(t, strconv.Itoa((u+i)%users), time.Time{}); v.Degraded {
						t.Error("a message was decided without the server")
					} else if v.Allowed {
						allowed[(u+i)%users].Add(1)
					}
				}
			})
		}
		wg.Wait()
	}
	for i, ahead := range []time.Duration{0, 5 * time.Second, -time.Hour, time.Hour} {
		r.set(ahead)
		round()
		if i == 0 {
			continue
		}
		eventually(t, "the nodes follow the server's clock", func() bool {
			for _, n := range nodes {
				now, _ := n.store.Clock()
				if off := time.Until(now) - ahead; off > time.Second || off < -time.Second {
					return false
				}
			}
			return true
		})
		round()
	}
	for u := range allowed {
		if got := allowed[u].Load(); got != 5 {
			t.Errorf("user %d: %d messages are allowed, want 5", u, got)
		}
	}
}
