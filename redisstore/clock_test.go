package redisstore

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/chatguard/chatguard/internal/waittest"
)

const second = int64(time.Second)

// TestClock_Best checks that the estimate is never further from the server's clock than its error.
func TestClock_Best(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &clock{wall: rapid.Int64Range(0, 1<<60).Draw(t, "wall")}
		truth := rapid.Int64Range(-1<<50, 1<<50).Draw(t, "offset")
		all := make([]sample, rapid.IntRange(1, 8).Draw(t, "samples"))
		at := int64(0)
		for i := range all {
			there, back := rapid.Int64Range(0, second).Draw(t, "there"), rapid.Int64Range(0, second).Draw(t, "back")
			server := c.wall + at + there + truth
			all[i] = sample{sent: at, received: at + there + back, server: server - server%1000} // microseconds
			at = all[i].received
		}
		r := c.best(all)
		if diff := r.target - truth; max(diff, -diff) > r.err {
			t.Fatalf("the offset is %d, the estimate %d ± %d", truth, r.target, r.err)
		}
		for _, one := range all {
			if r.trip > one.received-one.sent {
				t.Fatalf("%d isn't the fastest round trip", r.trip)
			}
		}
	})
}

// TestClock_Slew checks that the clock runs towards a measurement by at most 5 ms per second, and
// never backwards.
func TestClock_Slew(t *testing.T) {
	for name, step := range map[string]struct{ target, after, want int64 }{
		"start":         {0, 0, 0},
		"ahead":         {100e6, second, 5e6},
		"ahead later":   {100e6, 10 * second, 50e6},
		"ahead at last": {100e6, 30 * second, 100e6},
		"behind":        {-100e6, 2 * second, -10e6},
		"behind late":   {-100e6, 60 * second, -100e6},
		"one second":    {second, 4 * second, 20e6},
		"step":          {second + 1, 0, second + 1},
		"step back":     {-second - 1, 0, -second - 1},
	} {
		c := &clock{}
		c.follow(reading{at: 5 * second, target: 0}, "")
		c.follow(reading{at: 15 * second, target: step.target, err: 1e6}, "")
		r := c.reading.Load()
		at := 15*second + step.after
		if got := r.offset(at); got != step.want {
			t.Errorf("%s: offset %d, want %d", name, got, step.want)
		}
		rest := step.target - step.want
		if got, want := r.errorAt(at), 1e6+step.after/5000+max(rest, -rest); got != want {
			t.Errorf("%s: error %d, want %d", name, got, want)
		}
		// A further measurement begins where the clock is.
		c.follow(reading{at: at, target: step.target / 2}, "")
		if got := c.reading.Load().offset(at); got != step.want {
			t.Errorf("%s: the clock jumps from %d to %d", name, step.want, got)
		}
	}
}

// TestClock_Monotonic checks that slewing never makes the clock run backwards.
func TestClock_Monotonic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &clock{}
		at, last := int64(0), int64(-1)
		for range 50 {
			at += rapid.Int64Range(0, 3*second).Draw(t, "pause")
			if rapid.Bool().Draw(t, "measure") || c.reading.Load() == nil {
				c.follow(reading{at: at, target: rapid.Int64Range(-second/4, second/4).Draw(t, "target")}, "")
				if last < 0 {
					last = at + c.reading.Load().offset(at)
				}
			}
			now := at + c.reading.Load().offset(at)
			if now < last {
				t.Fatalf("%d after %d", now, last)
			}
			last = now
		}
	})
}

func TestClock_Contradicts(t *testing.T) {
	c := &clock{}
	if !c.contradicts(sample{}) {
		t.Error("there is no measurement")
	}
	c.follow(reading{at: 0, target: 0, err: 1e6}, "")
	for _, test := range []struct {
		server int64
		want   bool
	}{
		{second + 1e6, false}, // the middle of the round trip
		{second + 1e6 + 2.1e6, false},
		{second + 1e6 + 2.3e6, true},
		{second + 1e6 - 2.3e6, true},
		{3 * second, true},
	} {
		if got := c.contradicts(sample{sent: second, received: second + 2e6, server: test.server}); got != test.want {
			t.Errorf("%d: %t", test.server, got)
		}
	}
}

// TestClock_Suspended checks that time goes on while the machine is suspended, although the
// monotonic clock stands still.
func TestClock_Suspended(t *testing.T) {
	c, slept := &clock{}, int64(0)
	c.start(time.Now())
	if c.asleep != nil && c.asleep() != 0 {
		t.Errorf("the machine was suspended for %v", time.Duration(c.asleep()))
	}
	c.asleep = func() int64 { return slept }
	c.follow(reading{at: c.local(), err: second}, "")
	c.wake()
	var last time.Time
	for _, slept = range []int64{3600 * second, 3599 * second} { // the second one is measured too short
		c.wake()
		now, _ := c.now()
		if time.Until(now) < 50*time.Minute || now.Before(last) {
			t.Errorf("time has stood still or goes back: it is %v from now", time.Until(now))
		}
		last = now
		at := c.local()
		if c.contradicts(sample{sent: at, received: at, server: c.wall + at}) {
			t.Error("the server's clock seems to have jumped")
		}
	}
}

// TestClock_Offset checks that the offset is the difference from this machine's clock, even if that
// was set after start.
func TestClock_Offset(t *testing.T) {
	c := &clock{}
	if got := c.offset(); got != 0 {
		t.Errorf("the offset is %v before the first measurement", got)
	}
	c.start(time.Now())
	c.wall -= 3600 * second // the clock was an hour behind at start
	c.follow(reading{at: c.local(), target: 3600 * second}, "")
	if got := c.offset(); got.Abs() > time.Minute {
		t.Errorf("the offset is %v, want 0", got)
	}
	c.follow(reading{at: c.local(), target: 3601 * second}, "") // which is slewed
	if now, _ := c.now(); time.Until(now) > time.Second/2 {
		t.Errorf("time has jumped by %v", time.Until(now))
	}
}

// TestClock_Server checks that nodes use the server's clock.
func TestClock_Server(t *testing.T) {
	_, s := startStore(t, Options{})
	before := time.Now()
	now, skew := s.Clock()
	after := time.Now()
	h := s.Health()
	if bound := s.server.clock.error() + time.Millisecond; now.Before(before.Add(-bound)) || now.After(after.Add(bound)) {
		t.Errorf("%s isn't between %s and %s", now, before, after)
	}
	if skew < minSkew || h.RoundTrip <= 0 {
		t.Errorf("skew %s, %+v", skew, h)
	}
	if n := waittest.Allocs(func() { s.Clock() }); n != 0 {
		t.Errorf("Clock allocates %v times", n)
	}
}

// TestClock_RecordRefused checks that a node asks another server if the one that it has can't read
// or store the record of corrections, and goes on with its own record if it is refused.
func TestClock_RecordRefused(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	var refused atomic.Pointer[[]string] // a command for the record, and the server's error
	s := open(t, "redis://"+proxy(t, r.Addr(), func(args []string) ([]string, string) {
		if now := refused.Load(); now != nil && args[0] == (*now)[0] && slices.Contains(args, "cg1:{cg1:epoch}:clock") {
			return []string{"EVAL", "return {err=ARGV[1]}", "0", (*now)[1]}, ""
		}
		return args, ""
	}), Options{})
	own := *s.server.clock.reading.Load()
	own.correction = correction{change: 7, until: 1}
	s.server.clock.reading.Store(&own)
	d, err := s.server.dedicate(t.Context())
	must(t, err)
	defer d.Close()
	for _, test := range []struct {
		reply   string
		another bool
	}{
		{"MOVED 1 other:1", true}, {"ASK 1 other:1", true}, {"READONLY it", true}, {"LOADING it", true}, {"CLUSTERDOWN it", true},
		{"NOPERM it", false}, {"WRONGTYPE it", false},
	} {
		for _, command := range []string{"GET", "EVAL"} {
			refused.Store(&[]string{command, test.reply})
			if err := s.notices.synchronise(t.Context(), d); (err != nil) != test.another || err != nil && err.Error() != test.reply {
				t.Errorf("%s: %s: %v, want an error: %t", command, test.reply, err, test.another)
			}
			if record := s.server.clock.record(); record != "7 0 1 jumped" {
				t.Errorf("%s: %s: the node uses %q", command, test.reply, record)
			}
			r.must("DEL", s.server.keys.clock())
		}
	}
	for _, reply := range []string{"OOM it", "MISCONF it", "NOREPLICAS it", "BUSY it"} {
		refused.Store(&[]string{"EVAL", reply})
		if must(t, s.notices.synchronise(t.Context(), d)); r.text("GET", s.server.keys.clock()) != "" {
			t.Errorf("%s: the record is stored", reply)
		}
	}
	refused.Store(nil)
	if must(t, s.notices.synchronise(t.Context(), d)); r.text("GET", s.server.keys.clock()) != "7 0 1 jumped" {
		t.Error("the record isn't stored")
	}
}

// A replica's clock isn't taken for the primary's.
func TestClock_Replica(t *testing.T) {
	t.Parallel()
	r, s := startStore(t, Options{})
	r.must("REPLICAOF", "127.0.0.1", "1")
	d, err := s.server.dedicate(t.Context())
	must(t, err)
	defer d.Close()
	if _, _, err := d.measure(t.Context()); replyCode(err) != "READONLY" {
		t.Errorf("%v, want READONLY", err)
	}
}
