package redisstore

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/waittest"
)

// leaseTest is two nodes with the lease of the same task, and a time for their steps. The time
// doesn't pass by itself.
type leaseTest struct {
	*testing.T
	r    *redisServer
	a, b *Leadership
	now  time.Time
}

// slowLease has times that are so long that no machine is too slow for them. All tests use it if
// they don't set others.
var slowLease = func() leaseTimes {
	const slower = 60
	u := usualLease
	return leaseTimes{slower * u.expires, slower * u.held, slower * u.poll, slower * u.attempt, slower * u.alone, slower * u.yield, slower * u.meet}
}()

// newLeaseTest returns a leaseTest whose nodes haven't done anything yet.
func newLeaseTest(t *testing.T, r *redisServer, url string) *leaseTest {
	t.Helper()
	a, b := open(t, url, Options{Node: "a"}), open(t, url, Options{Node: "b"})
	return &leaseTest{t, r, a.Lead("x"), b.Lead("x"), time.Now()}
}

// startLeases returns a leaseTest in which a leads, has judged until now, and b has seen it.
func startLeases(t *testing.T) *leaseTest {
	t.Helper()
	r := startRedis(t)
	lt := newLeaseTest(t, r, r.URL())
	lt.a.SetJudgedUntil(lt.now)
	lt.b.SetJudgedUntil(lt.now)
	lt.stepBoth()
	wantFence(t, lt.a, 1)
	lt.wantStandby(lt.b)
	return lt
}

// stepBoth lets both nodes take a step at the same time.
func (t *leaseTest) stepBoth() {
	t.Helper()
	t.step(t.a, 0)
	t.step(t.b, 0)
}

// reach lets a node take steps until it has reached the server.
func (t *leaseTest) reach(l *Leadership) {
	t.Helper()
	eventually(t, "the node reaches the server", func() bool { return l.step(t.Context(), t.now) == nil })
}

// step lets a node take a step once d has passed, which must succeed. A step that has to be
// repeated is repeated.
func (t *leaseTest) step(l *Leadership, d time.Duration) {
	t.Helper()
	t.now = t.now.Add(d)
	err := errRepeat
	for range 3 {
		if errors.Is(err, errRepeat) {
			err = l.step(t.Context(), t.now)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// away lets nodes that can't reach the server take steps, each second for a duration that ends at
// the current time.
func (t *leaseTest) away(d time.Duration, all ...*Leadership) {
	t.Helper()
	for _, l := range all {
		l.writer.server.goAway(errors.New("killed"))
	}
	for at := time.Now().Add(-d); !at.After(time.Now()); at = at.Add(time.Second) {
		for _, l := range all {
			if err := l.step(t.Context(), at); err == nil || errors.Is(err, errRepeat) {
				t.Fatalf("%s before now: %v", time.Until(at), err)
			}
		}
	}
	t.now = time.Now()
}

// wantStandby fails the test unless a node doesn't lead, and says that the other one does.
func (t *leaseTest) wantStandby(l *Leadership) {
	t.Helper()
	other := "a"
	if l == t.a {
		other = "b"
	}
	if isLeading(l) || l.Leader() != other {
		t.Errorf("it leads: %v; the leader is %q, want %s", isLeading(l), l.Leader(), other)
	}
}

// wantAlone fails the test unless a node leads, and says why it has no lease.
func (t *leaseTest) wantAlone(l *Leadership, fence int64) {
	t.Helper()
	wantFence(t.T, l, fence)
	if since, problem := l.Problem(); problem == "" || since.IsZero() {
		t.Error("it has no problem")
	}
}

// TestLead_DataLost checks that no second node leads after the server has lost its data, and that
// the leader stores its lease again, and how far it has judged.
func TestLead_DataLost(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		lose  func(r *redisServer)
		fence int64
	}{
		"emptied":         {func(r *redisServer) { r.must("FLUSHALL") }, 2},
		"restarted empty": {func(r *redisServer) { r.Kill(); r.Start() }, 2},
		"evicted":         {func(r *redisServer) { r.must("DEL", "cg1:lead:x") }, 2},
		"judged evicted":  {func(r *redisServer) { r.must("DEL", "cg1:led:x") }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lt := startLeases(t)
			test.lose(lt.r)
			lt.reach(lt.b)
			lt.wantStandby(lt.b)
			lt.reach(lt.a)
			lt.step(lt.b, slowLease.expires-time.Second)
			lt.wantStandby(lt.b)
			wantFence(t, lt.a, test.fence)
			led := mustString(t, lt.r.must("GET", "cg1:led:x"))
			if want := formatLed(test.fence, lt.a.judgedWithin(slowLease.held)); led != want {
				t.Errorf("%s is stored, want %s", led, want)
			}
			if sure, maybe := lt.a.JudgedUntil(); !sure.IsZero() || !maybe.IsZero() {
				t.Error("the leader has itself as its predecessor")
			}
		})
	}
}

// TestLead_DataLostWithLeader checks that the successor of a leader that ended with the server's
// data knows how far the leader has judged, and has a higher fencing number.
func TestLead_DataLostWithLeader(t *testing.T) {
	t.Parallel()
	lt := startLeases(t)
	judged := lt.now
	lt.r.must("FLUSHALL")
	lt.b.SetJudgedUntil(judged.Add(9 * time.Second))
	for range slowLease.expires/time.Second - 1 {
		lt.step(lt.b, time.Second)
		lt.wantStandby(lt.b)
	}
	lt.step(lt.b, time.Second)
	wantFence(t, lt.b, 2)
	judged = judged.Truncate(time.Millisecond).Add(slowLease.poll)
	wantJudged(t, lt.b, judged, judged.Add(slowLease.held))
}

// TestLead_NewNodeAfterLoss checks that a node that starts right after the loss, and knows of no
// leader, leaves the lease to the one that goes on.
func TestLead_NewNodeAfterLoss(t *testing.T) {
	t.Parallel()
	lt := startLeases(t)
	lt.r.must("FLUSHALL")
	lt.b = open(t, lt.r.URL(), Options{Node: "b"}).Lead("x")
	lt.step(lt.b, 0)
	wantFence(t, lt.b, 1)
	lt.step(lt.a, 0)
	lt.step(lt.b, 0)
	lt.wantStandby(lt.b)
	wantFence(t, lt.a, 2)
}

// TestLead_Away checks that a leader goes on in an outage of an hour, that the other node doesn't
// begin, and that both stay so afterwards, although the server has forgotten the lease.
func TestLead_Away(t *testing.T) {
	t.Parallel()
	lt := startLeases(t)
	lt.a.current.Store(&term{1, time.Now().Add(-time.Hour + slowLease.held)})
	lt.r.Kill()
	lt.away(time.Hour, lt.a, lt.b)
	lt.wantAlone(lt.a, 1)
	lt.wantStandby(lt.b)
	lt.r.Start()
	lt.reach(lt.b)
	lt.wantStandby(lt.b)
	lt.reach(lt.a)
	lt.step(lt.b, 0)
	lt.wantStandby(lt.b)
	wantFence(t, lt.a, 2)
	if _, problem := lt.a.Problem(); problem != "" {
		t.Errorf("after the outage: %s", problem)
	}
}

// TestLead_SuspendedWhileAway checks that a leader that goes on without the server stops if it was
// suspended, and begins again only if the outage lasts.
func TestLead_SuspendedWhileAway(t *testing.T) {
	t.Parallel()
	lt := startLeases(t)
	lt.r.Kill()
	lt.a.writer.server.goAway(errors.New("killed"))
	fail := func(ago time.Duration) (leads bool) {
		wantError(t, lt.a.step(t.Context(), time.Now().Add(-ago)), "redisstore: ")
		return isLeading(lt.a)
	}
	lt.a.current.Store(&term{1, time.Now().Add(-time.Hour)})
	if fail(time.Hour+time.Second) || fail(time.Hour-time.Second) {
		t.Error("it acts on an outage of a minute ago")
	}
	if fail(slowLease.alone+time.Second) || fail(slowLease.alone/2) || !fail(0) {
		t.Error("it doesn't act in an outage that lasts")
	}
}

// TestLead_Suspended checks that a leader whose machine was suspended stops at once, that a node
// can lead afterwards, and that all times are by time.Now for the caller.
func TestLead_Suspended(t *testing.T) {
	t.Parallel()
	_, s := startStore(t, Options{})
	slept := &s.server.clock.slept
	times := patientLease
	times.poll = time.Hour
	l := runLeads(t, s, times, "x").leaderships[0]
	leading := func() (left time.Duration, ok bool) {
		_, until, ok := l.Leading()
		return time.Until(until), ok
	}
	eventually(t, "it leads", func() bool { _, ok := leading(); return ok })
	slept.Store(int64(times.held - time.Minute))
	if left, ok := leading(); !ok || left > time.Minute {
		t.Errorf("leads %v for %v, a minute before the lease's end", ok, left)
	}
	slept.Store(int64(times.held))
	if _, ok := leading(); ok {
		t.Error("it leads after it was suspended")
	}
	l = runLeads(t, s, patientLease, "y").leaderships[0]
	eventually(t, "another one leads", func() bool { _, ok := leading(); return ok })
	if left, _ := leading(); left > patientLease.held {
		t.Errorf("it leads for %v more", left)
	}
	l = s.Lead("z")
	now, _ := l.now()
	l.fail(now, errRepeat)
	if since, _ := l.Problem(); time.Until(since) > 0 {
		t.Errorf("there is a problem since %v", since)
	}
}

// TestLead_CutOff checks what happens if only the leader is cut off: another node takes its place,
// and the former leader stops as soon as it reaches the server.
func TestLead_CutOff(t *testing.T) {
	t.Parallel()
	lt := startLeases(t)
	gate := startGate(t, lt.r.Addr())
	cut := open(t, "redis://"+gate.addr, Options{Node: "a"})
	lt.a.writer, lt.a.leases = cut.writer, cut.leases
	gate.close()
	lt.a.current.Store(&term{1, time.Now().Add(-time.Hour + slowLease.held)})
	lt.away(time.Hour, lt.a)
	lt.wantAlone(lt.a, 1)
	lt.step(lt.b, slowLease.expires)
	wantFence(t, lt.b, 2)
	gate.open()
	lt.reach(lt.a)
	lt.wantStandby(lt.a)
	lt.step(lt.b, 0)
	wantFence(t, lt.b, 2)
}

// TestLead_AwayFromTheStart checks that nodes that know of no leader act after a while, and that
// one of them goes on when the server is there.
func TestLead_AwayFromTheStart(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	r.Kill()
	lt := newLeaseTest(t, r, r.URL())
	judged := time.UnixMilli(1_700_000_000_000)
	lt.a.seen.judged = judged.UnixMilli()
	lt.a.leases.candidates.Store(2) // so that it has its part already
	for _, l := range []*Leadership{lt.a, lt.b} {
		wantError(t, l.step(t.Context(), time.Now().Add(-slowLease.alone)), "redisstore: ")
		if isLeading(l) || l.Leader() != "" {
			t.Errorf("at the start: leads %v, the leader is %q", isLeading(l), l.Leader())
		}
	}
	lt.away(slowLease.alone-time.Second, lt.a, lt.b)
	for _, l := range []*Leadership{lt.a, lt.b} {
		wantError(t, l.step(t.Context(), time.Now()), "redisstore: ")
	}
	lt.wantAlone(lt.a, 0)
	lt.wantAlone(lt.b, 0)
	wantJudged(t, lt.a, judged.Add(-slowLease.held), judged)
	r.Start()
	lt.reach(lt.a)
	wantFence(t, lt.a, 1)
	lt.reach(lt.b)
	lt.wantStandby(lt.b)
}

// TestLead_AwayWithLeader checks that the successor of a leader that ended in an outage waits for
// it, and doesn't judge what the leader may have judged meanwhile.
func TestLead_AwayWithLeader(t *testing.T) {
	t.Parallel()
	lt := startLeases(t)
	lt.r.Kill()
	judged := lt.now.Truncate(time.Millisecond).Add(time.Hour)
	lt.b.SetJudgedUntil(judged)
	lt.b.seen.changed = lt.now.Add(-time.Hour)
	lt.away(time.Hour, lt.b)
	lt.wantStandby(lt.b)
	lt.r.Start()
	lt.reach(lt.b)
	lt.step(lt.b, slowLease.expires-time.Second)
	lt.wantStandby(lt.b)
	lt.step(lt.b, time.Second)
	wantFence(t, lt.b, 2)
	wantJudged(t, lt.b, judged.Add(slowLease.poll), judged.Add(slowLease.poll+slowLease.held))
}

// TestLead_Refused checks that a leader goes on while the server refuses changes, that the other
// node doesn't begin, and that a new node does, which knows of no leader. All have the problem
// until the server makes changes.
func TestLead_Refused(t *testing.T) {
	t.Parallel()
	for _, expired := range []bool{false, true} { // the lease isn't there
		t.Run(fmt.Sprintf("expired %t", expired), func(t *testing.T) {
			t.Parallel()
			lt := startLeases(t)
			started := open(t, lt.r.URL(), Options{}).Lead("x")
			if expired {
				lt.r.must("DEL", "cg1:lead:x")
			}
			lt.r.must("CONFIG", "SET", "maxmemory", "1")
			lt.a.current.Store(&term{1, time.Now().Add(-time.Hour + slowLease.held)})
			lt.b.seen.changed = lt.now.Add(-time.Hour)
			for at := time.Now().Add(-time.Hour); !at.After(time.Now()); at = at.Add(time.Second) {
				for _, l := range []*Leadership{lt.a, lt.b, started} {
					_, before := l.Problem()
					if err := l.step(t.Context(), at); err == nil && (l == lt.a || before != "") {
						t.Fatalf("node %s: the change isn't refused; the problem was %q", l.holder[:1], before)
					}
				}
			}
			lt.wantAlone(lt.a, 1)
			lt.wantStandby(lt.b)
			if _, problem := lt.b.Problem(); problem == "" {
				t.Error("the other node has no problem")
			}
			if expired {
				lt.wantAlone(started, 0)
			} else {
				lt.wantStandby(started)
			}
			lt.r.must("CONFIG", "SET", "maxmemory", "0")
			lt.now = time.Now()
			first, second := lt.a, lt.b // b sees the renewal
			if expired {
				server := lt.b.writer.server
				lt.b.writer.tryChange(t.Context(), server.refusing.Load().key) // a heartbeat does so
				first, second = lt.b, lt.a
			}
			lt.b.seen.changed = lt.now.Add(-time.Second)           // of an earlier look
			for i, l := range []*Leadership{first, second, lt.b} { // the last look sees no renewal
				lt.step(l, time.Duration(i)*time.Second)
				if _, problem := l.Problem(); problem != "" {
					t.Errorf("node %s afterwards: %s", l.holder[:1], problem)
				}
			}
			lt.wantStandby(lt.b)
			if !isLeading(lt.a) {
				t.Error("it doesn't lead")
			}
		})
	}
}

// TestLead_RefusedOnCluster checks that a node whose attempt to take the lease was refused takes it
// as soon as the lease's shard makes changes, although another shard doesn't.
func TestLead_RefusedOnCluster(t *testing.T) {
	t.Parallel()
	r := startCluster(t, 1)[0]
	lt := newLeaseTest(t, r, "redis+cluster://"+r.Addr())
	lt.stepBoth()
	wantFence(t, lt.a, 1)
	r.must("CONFIG", "SET", "maxmemory", "1")
	lt.now = lt.now.Add(2 * slowLease.expires)
	if err := lt.b.step(t.Context(), lt.now); err == nil {
		t.Error("the change isn't refused")
	}
	r.must("CONFIG", "SET", "maxmemory", "0")
	lt.b.writer.server.refusing.Store(&refusedChange{memoryFull, "cg1:{u:7}"})
	for range slowLease.expires / slowLease.poll {
		lt.step(lt.b, slowLease.poll)
	}
	wantFence(t, lt.b, 2)
}

// foreignLeases are contents of both keys that no node has written, or that are older than what a
// node has seen.
var foreignLeases = map[string][2]string{
	"an hour ago":         {"c OLD 5", "1 1700000000000"},
	"an hour ago, nobody": {"", "1 1700000000000"},
	"odd":                 {"odd", "odd"},
	"the fence too high":  {"c OLD 5", "9223372036854775807 1700000000000"},
	"negative":            {"c OLD 5", "-5 -5"},
	"too much":            {"c OLD 5", "5 1700000000000 x"},
	"judged too far":      {"c OLD 5", "3 99999999999999"},
	"a list":              {"list", "1 1700000000000"},
	"a list of judged":    {"c OLD 5", "list"},
}

// store stores such contents: nothing for "", and a list for "list".
func (t *leaseTest) store(stored [2]string) {
	t.Helper()
	for i, key := range []string{"cg1:lead:x", "cg1:led:x"} {
		t.r.must("DEL", key)
		switch stored[i] {
		case "":
		case "list":
			t.r.must("RPUSH", key, "1")
		default:
			t.r.must("SET", key, stored[i])
		}
	}
}

// TestLead_Restored checks that a leader stores its lease again if an older state or something else
// is stored, and that the other node doesn't take it. Without a leader, nothing that is stored
// keeps a node from leading for ever, and what no node has written is logged.
func TestLead_Restored(t *testing.T) {
	t.Parallel()
	for name, stored := range foreignLeases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lt := startLeases(t)
			lt.a.fence = 7
			lt.store(stored)
			lt.step(lt.b, 0)
			if isLeading(lt.b) {
				t.Error("both lead")
			}
			lt.step(lt.a, 0)
			lt.step(lt.b, slowLease.expires-time.Second)
			lt.wantStandby(lt.b)
			wantFence(t, lt.a, 8)
		})
		t.Run(name+", without a leader", func(t *testing.T) {
			t.Parallel()
			lt := startLeases(t)
			judged := time.UnixMilli(lt.now.UnixMilli())
			lt.store(stored)
			var log waittest.Output
			lt.b.writer.server.options.Logger = logTo(&log)
			lt.step(lt.b, 0)
			lt.step(lt.b, slowLease.expires-time.Second)
			want, _, _ := strings.Cut(stored[0], " OLD")
			if stored[0] == "" || stored[0] == "list" {
				want = "a" // as before
			} else if want == "odd" {
				want = ""
			}
			if isLeading(lt.b) || lt.b.Leader() != want {
				t.Errorf("leads: %v; the leader is %q, want %q", isLeading(lt.b), lt.b.Leader(), want)
			}
			lt.step(lt.b, time.Second)
			if name == "a list" { // it is text since
				lt.step(lt.b, slowLease.expires)
			}
			fence := int64(2)
			if name == "judged too far" {
				fence = 4
			}
			wantFence(t, lt.b, fence)
			judged = judged.Add(slowLease.poll)
			wantJudged(t, lt.b, judged, judged.Add(slowLease.held))
			if lines := strings.Count(log.String(), "key=cg1:lead:x"); name == "a list" && lines != 1 {
				t.Errorf("logged %d times: %s", lines, log.String())
			}
			if key, _, _ := strings.Cut(stored[1], " "); (key != "1") != strings.Contains(log.String(), "key=cg1:led:x value=") {
				t.Errorf("logged: %s", log.String())
			}
		})
	}
}

// TestLead_OtherType checks that of two new nodes one leads, after a while, if the lease is a key
// of another type.
func TestLead_OtherType(t *testing.T) {
	t.Parallel()
	for scheme, start := range map[string]func(t *testing.T) *redisServer{
		"redis://":         func(t *testing.T) *redisServer { return startRedis(t) },
		"redis+cluster://": func(t *testing.T) *redisServer { return startCluster(t, 1)[0] },
	} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			lt := newLeaseTest(t, r, scheme+r.Addr())
			lt.store([2]string{"list", "list"})
			for range slowLease.expires / time.Second {
				if lt.stepBoth(); isLeading(lt.a) || isLeading(lt.b) {
					t.Fatal("a node leads at once")
				}
				lt.now = lt.now.Add(time.Second)
			}
			lt.stepBoth()
			wantFence(t, lt.a, 1)
			lt.wantStandby(lt.b)
			s := lt.a.writer.server
			if s.otherType.Load() != nil || s.refusing.Load() != nil {
				t.Error("Health names a key that the node has replaced")
			}
			row := "cg1:{u:7}:c:lobby"
			r.must("RPUSH", row, "1")
			s.otherType.Store(&row)
			s.refusing.Store(&refusedChange{memoryFull, row})
			lt.store([2]string{"list", "list"})
			must(t, lt.a.release(t.Context()))
			if s.otherType.Load() == nil || s.refusing.Load() == nil {
				t.Error("Health no longer names the key of a row")
			}
		})
	}
}

// TestLead_TakesOwnAgain checks that a leader that was suspended until its lease expired takes it
// again at once, with the messages that it has kept, unless another node is taking it. It counts
// the lease once: of one task and two nodes, that is its part.
func TestLead_TakesOwnAgain(t *testing.T) {
	t.Parallel()
	lt := startLeases(t)
	lt.b.leases.candidates.Store(2)
	lt.b.leases.tasks.Store(1)
	judged := time.UnixMilli(lt.now.UnixMilli())
	must(t, lt.a.release(t.Context()))
	lt.step(lt.b, 0)
	wantFence(t, lt.b, 3)
	wantJudged(t, lt.b, judged, judged)
	lt.r.must("DEL", "cg1:lead:x")
	lt.b.SetJudgedUntil(lt.now.Add(time.Second))
	lt.b.current.Store(&term{3, time.Time{}})
	lt.step(lt.b, 0)
	wantFence(t, lt.b, 4)
	wantJudged(t, lt.b, judged, judged)
	lt.b.current.Store(&term{4, time.Time{}})
	lt.r.must("SET", "cg1:lead:x", "a X 1") // its fencing number follows
	lt.step(lt.b, 0)
	lt.wantStandby(lt.b)
	if held := lt.b.leases.held; held != 0 {
		t.Errorf("it counts %d leases, and has none", held)
	}
}

// TestLead_OtherHasLed checks that a leader stops if it finds that another node has led: in its
// next renewal, and when it stores its lease again. The other node's time may be far ahead, because
// this node was suspended.
func TestLead_OtherHasLed(t *testing.T) {
	t.Parallel()
	for _, led := range []string{"2 5", formatLed(2, time.Now().Add(time.Hour).UnixMilli())} {
		for _, lead := range []string{"", "b X 1"} {
			lt := startLeases(t)
			lt.a.begun = lead != ""
			lt.r.must("SET", "cg1:led:x", led)
			if lead != "" {
				lt.r.must("SET", "cg1:lead:x", lead)
			}
			lt.step(lt.a, 0)
			if isLeading(lt.a) || lt.a.holds {
				t.Errorf("it leads, although %q and %q are stored", lead, led)
			}
		}
	}
}

// TestLead_RunAfterLoss checks that the running leader stores a lost lease again.
func TestLead_RunAfterLoss(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	a, b := open(t, r.URL(), Options{Node: "a"}), open(t, r.URL(), Options{Node: "b"})
	la := runLeads(t, a, patientLease, "x").leaderships[0]
	eventually(t, "a leads", func() bool { return isLeading(la) })
	lb := runLeads(t, b, patientLease, "x").leaderships[0]
	eventually(t, "b knows the leader", func() bool { return lb.Leader() == "a" })
	r.must("FLUSHALL")
	eventually(t, "the lease is stored again", func() bool {
		fence, _, _ := la.Leading()
		return fence == 2 && r.text("GET", "cg1:lead:x") != ""
	})
	if isLeading(lb) {
		t.Error("both lead")
	}
}

// TestLead_LongTimeout checks that a leader goes on while the server hangs, however long
// Options.Timeout is: an attempt ends before the leader's time does.
func TestLead_LongTimeout(t *testing.T) {
	t.Parallel()
	lt := startLeases(t)
	lt.a.times.attempt = 10 * time.Millisecond
	lt.r.Signal(syscall.SIGSTOP)
	for range 3 {
		wantError(t, lt.a.step(t.Context(), time.Now()), "redisstore: ")
		if _, problem := lt.a.Problem(); problem == "" {
			t.Error("no problem, although the server hangs")
		}
		wantFence(t, lt.a, 1)
	}
	lt.r.Signal(syscall.SIGCONT)
}
