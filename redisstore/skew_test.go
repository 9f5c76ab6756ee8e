package redisstore

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/waittest"
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

func startSkewed(t *testing.T, args ...string) *skewedServer {
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
	args = append([]string{"SKEW=" + file, "LD_PRELOAD=" + library, "redis-server", "--save", "", "--appendonly", "no"}, args...)
	s.redisServer = startServer(t, "env", args...)
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
			var at time.Time
			eventually(t, "the nodes use the server's clock", func() bool { // measured again if the machine is busy
				before := time.Now().Add(ahead - 2*time.Second)
				at, _ = nodes[0].store.Clock()
				return at.After(before) && at.Before(time.Now().Add(ahead+2*time.Second))
			})
			got := hammer(t, nodes, 100, 6, at)
			if allowed, degraded := total(got.allowed), total(got.degraded); allowed != 300 || degraded != 0 {
				t.Errorf("%d are allowed and %d degraded, want 300 and 0", allowed, degraded)
			}
		})
	}
}

// Time goes on as before when the server's clock jumps and jumps back: each verdict of one, two or
// three nodes is that of one Guard at the same times. A node that starts after the jump agrees.
func TestGuards_ServerClockJumps(t *testing.T) {
	t.Parallel()
	r := startSkewed(t)
	policy := enforced(chatguard.TokenBucketLimit("burst", 3, 100*time.Second), chatguard.DailyWindowLimit("daily", 300))
	var groups []*nodeGroup
	for n := 1; n <= 3; n++ {
		opts := Options{Namespace: fmt.Sprint("n", n)}
		groups = append(groups, &nodeGroup{nodes: startNodes(t, r.URL(), n, policy, opts, shared.Exact), alone: alone(t, policy), opts: opts})
	}
	for i, jump := range []time.Duration{-45 * time.Second, -5 * time.Minute, 5 * time.Minute, 2 * time.Hour} {
		for _, ahead := range []time.Duration{jump, 0} {
			r.set(ahead)
			for _, g := range groups {
				g.round(t, fmt.Sprint(jump, ahead), i)
				for _, n := range g.nodes {
					eventually(t, fmt.Sprintf("all nodes see a jump of %v, and have stored that", ahead), func() bool {
						clock := &n.store.server.clock
						return (n.store.Health().Jump-ahead).Abs() < tolerance && clock.record() == r.text("GET", n.store.server.keys.clock())
					})
					if problem := n.store.Health().Problem; (ahead != 0) != strings.Contains(problem, "the server's clock has jumped by ") {
						t.Errorf("a jump of %v: %q", ahead, problem)
					}
				}
				g.round(t, fmt.Sprint(jump, ahead), i)
				late := open(t, r.URL(), g.opts)
				g.compareClocks(t, late)
				late.Close()
			}
		}
	}
}

// tolerance is how wrong clocks may be on a busy machine. Jumps in tests are longer.
const tolerance = 20 * time.Second

// nodeGroup is some nodes of a namespace, and one Guard that does the same alone.
type nodeGroup struct {
	nodes []node
	alone node
	opts  Options
	sent  int
	last  time.Time // the last message's time
	began time.Time // when it was sent
}

// round sends messages, and checks that each verdict is right, and that time goes on.
func (g *nodeGroup) round(t *testing.T, what string, user int) {
	t.Helper()
	for range 2 * len(g.nodes) {
		n := g.nodes[g.sent%len(g.nodes)]
		id := strconv.Itoa((user + g.sent) % 5)
		began := time.Now()
		v := n.check(t, id, time.Time{})
		if want := g.alone.check(t, id, v.At); v.Degraded || v.Allowed != want.Allowed {
			t.Errorf("%s, message %d: %+v, want %+v", what, g.sent, v, want)
		}
		if passed := v.At.Sub(g.last); g.sent > 0 && (passed < -tolerance || passed > time.Since(g.began)+tolerance) {
			t.Errorf("%s, message %d: time has jumped by %v", what, g.sent, passed)
		}
		g.sent, g.last, g.began = g.sent+1, v.At, began
	}
}

// compareClocks checks that the time of a node that has just started is that of the others.
func (g *nodeGroup) compareClocks(t *testing.T, s *Store) {
	t.Helper()
	before, _ := g.nodes[0].store.Clock()
	now, _ := s.Clock()
	after, _ := g.nodes[0].store.Clock()
	if now.Before(before.Add(-tolerance)) || now.After(after.Add(tolerance)) {
		t.Errorf("the clocks of two nodes show %v and %v", before, now)
	}
}

// namedJump returns the jump of the server's clock that a text names, or 0.
func namedJump(text string) time.Duration {
	_, text, _ = strings.Cut(text, "the server's clock has jumped by ")
	text, _, _ = strings.Cut(text, ":")
	by, _ := time.ParseDuration(text)
	return by
}

// A jump of the server's clock is logged with its end, and named by Diagnose. What the server has
// deleted too early is healed, and rows and records written since expire by the server's clock.
func TestGuards_ServerClockAhead(t *testing.T) {
	t.Parallel()
	r := startSkewed(t)
	var log waittest.Output
	policy := enforced(chatguard.TokenBucketLimit("burst", 2, 200*time.Second))
	opts := Options{Node: "ahead", Logger: logTo(&log), Interval: 20 * time.Millisecond}
	n := startNodes(t, r.URL(), 1, policy, opts, shared.Exact)[0]
	n.check(t, "7", time.Time{})
	key := "cg1:{u:7}:c:lobby"
	stored := func() bool { return r.integer("EXISTS", key) == 1 }
	if !stored() {
		t.Fatal("the row isn't stored")
	}
	const ahead = 5 * time.Minute
	r.set(ahead)
	eventually(t, "the row is restored", func() bool { return n.store.Health().Jump > 0 && stored() })
	left, most := r.integer("PTTL", key), (200*time.Second + rowMargin).Milliseconds()
	if left > most || left <= rowMargin.Milliseconds() {
		t.Errorf("the row expires in %d ms, want up to %d", left, most)
	}
	if offset := n.store.Health().Offset; (offset - ahead).Abs() > tolerance {
		t.Errorf("the server's clock is %v ahead, want %v", offset, ahead)
	}
	if _, done, err := n.store.writer.compareAndSet(t.Context(), "cg1:short", "", "1", time.Hour); err != nil || !done {
		t.Error(done, err)
	}
	if left := time.Duration(r.integer("PTTL", "cg1:short")) * time.Millisecond; (left - time.Hour).Abs() > tolerance {
		t.Errorf("a record expires in %v, want an hour", left)
	}
	doctor := open(t, r.URL(), Options{})
	f := wantFinding(t, doctor, "clock", Warning, ": time goes on as before, and follows slowly from ")
	if f.Fix != jumpFix || (namedJump(f.Text)-ahead).Abs() > tolerance {
		t.Errorf("%+v", f)
	}
	r.set(0)
	eventually(t, "the jump has ended", func() bool { return n.store.Health().Jump == 0 && n.store.Health().Problem == "" })
	eventually(t, "the jump and its end are logged", func() bool {
		text := log.String()
		return (namedJump(text)-ahead).Abs() < tolerance && strings.Contains(text, "time is that of the server's clock again")
	})
}

// A failover to a server with another clock is a jump.
func TestSentinel_OtherClock(t *testing.T) {
	t.Parallel()
	first := startRedis(t, "--repl-diskless-sync-delay", "0")
	second := startSkewed(t, "--repl-diskless-sync-delay", "0", "--replicaof", "127.0.0.1 "+fmt.Sprint(first.Port))
	const ahead = 5 * time.Minute
	second.set(ahead)
	eventually(t, "the replica follows", func() bool {
		return strings.Contains(second.text("INFO", "replication"), "master_link_status:up")
	})
	watcher := startSentinel(t, first)
	policy := enforced(chatguard.DailyWindowLimit("daily", 3))
	g := &nodeGroup{nodes: startNodes(t, "redis+sentinel://"+watcher.Addr()+"/main", 2, policy, Options{}, shared.Exact), alone: alone(t, policy)}
	g.round(t, "before", 0)
	failOver(watcher, first, second.redisServer)
	for _, n := range g.nodes {
		eventually(t, "the node sees the other clock", func() bool { return (n.store.Health().Jump - ahead).Abs() < tolerance })
	}
	now, _ := g.nodes[0].store.Clock()
	if off := time.Until(now); off.Abs() > tolerance {
		t.Errorf("time has jumped by %v", off)
	}
	g.compareClocks(t, g.nodes[1].store)
}

// The record of corrections is stored again if it was lost or is an earlier one, and replaced if
// another program has written it. A key of another type is named. Without room, the nodes go on
// with their own corrections. Time goes on in all cases.
func TestClock_StoredRecord(t *testing.T) {
	t.Parallel()
	r := startSkewed(t)
	var log waittest.Output
	a, b := open(t, r.URL(), Options{Node: "a", Logger: logTo(&log)}), open(t, r.URL(), Options{Node: "b"})
	run(t, a, &fakeGuard{})
	run(t, b, &fakeGuard{})
	const jump = -5 * time.Minute
	key := a.server.keys.clock()
	told := make(chan string, 100)
	listener := r.client()
	defer listener.Close()
	go listener.Receive(t.Context(), listener.B().Subscribe().Channel(a.server.keys.changes()).Build(), func(m rueidis.PubSubMessage) {
		told <- m.Message
	})
	eventually(t, "the test listens", func() bool { return r.integer("PUBLISH", a.server.keys.changes(), "policy x test") == 3 })
	r.set(jump)
	same := func() bool {
		record := a.server.clock.record()
		return record != "" && record == b.server.clock.record() && record == r.text("GET", key)
	}
	wantJump := func(want time.Duration) {
		t.Helper()
		for _, s := range []*Store{a, b} {
			if got := s.Health().Jump; (got - want).Abs() > tolerance {
				t.Errorf("the jump is %v, want %v", got, want)
			}
		}
	}
	eventually(t, "both nodes have the same record", same)
	eventually(t, "the other node is told", func() bool {
		select {
		case notice := <-told:
			return strings.HasPrefix(notice, "clock ")
		default:
			return false
		}
	})
	record := r.text("GET", key)
	for name, harm := range map[string][]string{"lost": {"FLUSHALL"}, "deleted": {"DEL", key}, "garbage": {"SET", key, "hello"}} {
		r.must(harm...)
		eventually(t, name+": the record is stored again", same)
		if now := r.text("GET", key); now != record {
			t.Errorf("%s: the record is %q, and was %q", name, now, record)
		}
	}
	eventually(t, "the other program is named", func() bool {
		r.must("DEL", key)
		r.do("RPUSH", key, "x") // fails if a node has stored the record meanwhile
		const problem = "another program has written the key cg1:{cg1:epoch}:clock: delete it"
		return strings.Contains(a.Health().Problem, problem) && strings.Contains(b.Health().Problem, problem) && strings.Contains(log.String(), problem)
	})
	wantJump(jump)
	r.must("DEL", key)
	eventually(t, "the record is stored again", same)

	earlier := r.text("GET", key)
	r.must("CONFIG", "SET", "maxmemory", "1")
	r.set(2 * jump)
	for _, s := range []*Store{a, b} {
		eventually(t, "without room, the node has a correction of its own", func() bool {
			now, _ := s.Clock()
			return (s.Health().Jump-2*jump).Abs() < tolerance && time.Until(now).Abs() < tolerance
		})
	}
	if now := r.text("GET", key); now != earlier {
		t.Errorf("without room, %q is stored, want %q", now, earlier)
	}
	r.must("CONFIG", "SET", "maxmemory", "0")
	eventually(t, "with room, the record is stored", same)
	r.must("SET", key, earlier)
	eventually(t, "an earlier record is replaced", same)
	wantJump(2 * jump)
}

// If a node's own clock jumps, only this node follows the server's clock.
func TestClock_NodeJumps(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	var stores []*Store
	var logs [3]waittest.Output
	for i := range logs {
		s := open(t, r.URL(), Options{Node: fmt.Sprint("n", i), Logger: logTo(&logs[i])})
		s.server.clock.asleep = nil
		s.server.clock.began -= int64(denyAfter)
		run(t, s, &fakeGuard{})
		stores = append(stores, s)
	}
	eventually(t, "all nodes run", func() bool { return stores[0].Health().Nodes == 3 && stores[2].Health().Nodes == 3 })
	jumping := stores[0]
	for change := int64(1); change < 4; change += 2 {
		jumping.server.clock.slept.Add(int64(-5 * time.Minute)) // as if the machine had been suspended unnoticed
		eventually(t, "the node's correction is denied", func() bool {
			k := jumping.server.clock.reading.Load().correction
			return k.denied && k.change > change && stores[1].server.clock.record() == k.String() && stores[2].server.clock.record() == k.String()
		})
		for _, s := range stores {
			now, _ := s.Clock()
			if off := time.Until(now); off.Abs() > tolerance || s.Health().Jump != 0 || s.Health().Problem != "" {
				t.Errorf("the time is off by %v, %+v", off, s.Health())
			}
		}
	}
	for i := range logs {
		own := func() bool { return strings.Contains(logs[i].String(), "this machine's clock has jumped") }
		if i == 0 {
			eventually(t, "the node logs the jump", own)
		} else if own() || strings.Contains(logs[i].String(), "the server's clock") {
			t.Errorf("node %d logs a jump: %s", i, logs[i].String())
		}
	}
}
