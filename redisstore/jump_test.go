package redisstore

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// clockWorld is a server and nodes whose clocks jump. True time is counted from an arbitrary start.
type clockWorld struct {
	t      rapidOrTest
	now    int64 // true time
	ahead  int64 // the server's clock minus true time
	record string
	nodes  []*clockNode
}

type rapidOrTest interface {
	Helper()
	Errorf(format string, args ...any)
}

type clockNode struct {
	clock
	began int64 // true time
	ahead int64 // the local monotonic clock's error
}

const worldStart = int64(1_800_000_000) * second

func newClockWorld(t rapidOrTest) *clockWorld { return &clockWorld{t: t, now: worldStart} }

// start starts a node whose wall clock is off.
func (w *clockWorld) start(off int64) *clockNode {
	n := &clockNode{began: w.now}
	n.wall = w.now + off
	w.nodes = append(w.nodes, n)
	w.look(n)
	return n
}

// local returns the node's local time.
func (w *clockWorld) local(n *clockNode) int64 { return w.now - n.began + n.ahead }

// look does for one node what it does each second.
func (w *clockWorld) look(n *clockNode) {
	at := w.local(n)
	w.record = n.follow(reading{at: at, target: w.now + w.ahead - (n.wall + at), err: 1e6}, w.record)
}

// jumpOf makes a node's monotonic clock jump. It jumps back only while nobody looks at it, as that
// of a suspended machine.
func (w *clockWorld) jumpOf(n *clockNode, by int64) {
	n.ahead += by
	w.now += max(0, -by)
}

// pass lets seconds pass, in which all nodes look at the clock, the last one first if back is set.
func (w *clockWorld) pass(seconds int, back bool) {
	for range seconds {
		w.now += second
		for i := range w.nodes {
			if back {
				i = len(w.nodes) - 1 - i
			}
			w.look(w.nodes[i])
		}
	}
}

// time returns the time of the node, minus true time.
func (w *clockWorld) time(n *clockNode) time.Duration {
	at := w.local(n)
	r := n.reading.Load()
	return time.Duration(r.correction.apply(n.wall+at+r.offset(at)) - w.now)
}

// want checks the time of all nodes, minus true time, and how far the server's clock has jumped.
func (w *clockWorld) want(what string, off, jump time.Duration) {
	w.t.Helper()
	for i, n := range w.nodes {
		if got := w.time(n); (got - off).Abs() > 20*time.Millisecond {
			w.t.Errorf("%s: the time of node %d is off by %v, want %v; record %q", what, i, got, off, w.record)
		}
		at := w.local(n)
		server := n.wall + at + n.reading.Load().offset(at)
		k := n.reading.Load().correction
		if got := time.Duration(server - k.apply(server)); (got - jump).Abs() > 20*time.Millisecond {
			w.t.Errorf("%s: node %d sees a jump of %v, want %v; record %q", what, i, got, jump, w.record)
		}
	}
}

// TestClock_ServerJumps checks that time goes on as before when the server's clock jumps, and when
// it jumps back, for one node and for several.
func TestClock_ServerJumps(t *testing.T) {
	for nodes := 1; nodes <= 3; nodes++ {
		for _, jump := range []time.Duration{-45 * time.Second, -5 * time.Minute, 5 * time.Minute, 2 * time.Hour, -24 * time.Hour} {
			t.Run(fmt.Sprint(nodes, " ", jump), func(t *testing.T) {
				w := newClockWorld(t)
				for i := range nodes {
					w.start(int64(i) * 1000 * second)
				}
				w.pass(20, false)
				w.want("before", 0, 0)
				if w.record != "" {
					t.Errorf("the record is %q without a jump", w.record)
				}
				w.ahead = int64(jump)
				w.want("unseen", 0, 0)
				w.pass(1, false)
				w.want("jumped", 0, jump)
				late := w.start(7)
				w.want("a node has started", 0, jump)
				w.pass(300, true)
				w.want("lasting", 0, jump)
				w.ahead = 0
				w.pass(1, true)
				w.want("back", 0, 0)
				if k := late.reading.Load().correction; k.by != 0 {
					t.Errorf("a correction of %v stays", time.Duration(k.by))
				}
				w.pass(1000, false)
				w.want("long ago", 0, 0)
			})
		}
	}
}

// TestClock_JumpsBack checks that no correction stays if the server's clock jumps back nearly to
// where it was. The rest is slewed.
func TestClock_JumpsBack(t *testing.T) {
	w := newClockWorld(t)
	n := w.start(0)
	w.ahead = -45 * second
	w.pass(1, false)
	w.ahead = second / 2
	w.pass(1, false)
	if k := n.reading.Load().correction; k.by != 0 || k.change != 2 {
		t.Errorf("the correction is %q", k)
	}
	w.want("back", 0, 0)
	w.pass(100, false)
	w.want("slewed", time.Second/2, 0)
}

// TestClock_FollowsJump checks that the nodes' time follows a jump that lasts: not for ten minutes,
// then slowly, at most for a day, or at once if the jump was larger than an hour. It never goes
// back unless it follows at once. Nodes that start meanwhile agree.
func TestClock_FollowsJump(t *testing.T) {
	for _, test := range []struct{ jump, after, want time.Duration }{
		{-45 * time.Second, 10 * time.Minute, 0},
		{-45 * time.Second, 10*time.Minute + 1000*time.Second, -5 * time.Second},
		{-45 * time.Second, 10*time.Minute + 9000*time.Second, -45 * time.Second},
		{45 * time.Second, 10*time.Minute + 1000*time.Second, 5 * time.Second},
		{time.Hour, 10*time.Minute + 12*time.Hour, 30 * time.Minute},
		{-time.Hour, 10*time.Minute + 24*time.Hour, -time.Hour},
		{-2 * time.Hour, 10*time.Minute - 2*time.Second, 0},
		{-2 * time.Hour, 10*time.Minute + 2*time.Second, -2 * time.Hour},
	} {
		t.Run(fmt.Sprint(test.jump, " ", test.after), func(t *testing.T) {
			w := newClockWorld(t)
			w.start(0)
			w.start(5)
			w.pass(10, false)
			w.ahead = int64(test.jump)
			w.pass(1, false)
			jumped, record := w.now, w.record
			last := int64(0)
			for w.now-jumped < int64(test.after) {
				w.pass(1, false)
				now := w.now + int64(w.time(w.nodes[0]))
				if now < last && test.jump > -time.Hour {
					t.Fatalf("time goes back by %v", time.Duration(last-now))
				}
				last = now
				w.now += min(59*second, max(0, jumped+int64(test.after)-w.now-second)) // not a tick each second
			}
			w.start(9)
			w.want("later", test.want, test.jump-test.want)
			if w.record != record {
				t.Errorf("the record was %q, and is %q", record, w.record)
			}
		})
	}
}

// TestClock_OwnJump checks that a node whose own clock jumps follows the others, as soon as one of
// them denies that the server's clock has jumped. The others' time goes on as before.
func TestClock_OwnJump(t *testing.T) {
	for _, nodes := range []int{2, 3} {
		for _, jump := range []int64{-45 * second, 300 * second} {
			w := newClockWorld(t)
			for range nodes {
				w.start(0)
			}
			w.pass(20, false)
			w.jumpOf(w.nodes[0], jump)
			w.look(w.nodes[0])
			if skew := w.nodes[0].reading.Load().skewAt(w.local(w.nodes[0]), 0); skew != maxSkew {
				t.Errorf("the node is sure: skew %v", skew)
			}
			for _, n := range w.nodes[1:] {
				w.look(n)
				if off := w.time(n); off.Abs() > 20*time.Millisecond {
					t.Errorf("the time of another node is off by %v", off)
				}
			}
			w.look(w.nodes[0])
			w.want("denied", 0, 0)
			w.pass(20, true)
			w.want("later", 0, 0)
			w.ahead = 300 * second
			w.pass(1, false)
			w.want("the server's jump", 0, 300*time.Second)
		}
	}
}

// TestClock_JustStarted checks that a node that started after the jump of the server's clock, and
// before another node recorded it, doesn't deny it.
func TestClock_JustStarted(t *testing.T) {
	w := newClockWorld(t)
	old := w.start(0)
	w.pass(20, false)
	w.ahead = -45 * second
	late := w.start(0)
	if off := w.time(late); off != -45*time.Second {
		t.Errorf("the new node can't know of the jump, but is off by %v", off)
	}
	w.look(old)
	w.look(late)
	w.want("recorded", 0, -45*time.Second)
}

// TestClock_Record checks what happens to the record of corrections: lost, restored to an older
// state, written by nobody, and at the same time by two nodes.
func TestClock_Record(t *testing.T) {
	w := newClockWorld(t)
	w.start(0)
	w.start(0)
	w.pass(20, false)
	w.ahead = 300 * second
	w.pass(1, false)
	first := w.record
	w.ahead = 200 * second
	w.pass(1, false)
	second, ok := parseCorrection(w.record)
	if !ok || second.change != 2 || time.Duration(second.by).Round(time.Second) != -200*time.Second {
		t.Fatal(w.record)
	}
	for name, bad := range map[string]string{
		"lost": "", "older": first, "garbage": "hello", "half": second.String()[:8], "another order": "9 1 -1 jumped", "huge": "7 9223372036854775807 1 jumped",
		"foreign": fmt.Sprintf("9 %d %d jumped", 3*second.by, second.until),
	} {
		w.record = bad
		w.pass(2, false)
		w.want(name, 0, 200*time.Second)
		k, ok := parseCorrection(w.record)
		if !ok || k.by != second.by || k.until != second.until {
			t.Errorf("%s: %q is stored, want %q", name, w.record, second)
		}
		w.record = k.String()
	}
	// Both nodes see a jump before either has stored a record.
	w.ahead = 0
	before := w.record
	w.now += int64(time.Second)
	w.look(w.nodes[0])
	winner := w.record
	w.record = before
	w.now += 1e6
	w.look(w.nodes[1])
	if w.record == winner {
		t.Fatal("both nodes have the same record")
	}
	w.record = winner
	w.look(w.nodes[1])
	if w.record != winner {
		t.Errorf("%q is stored, want %q", w.record, winner)
	}
	w.pass(1, true)
	w.want("both", 0, 0)
}

// TestClock_Jumps checks in random sequences that the time of all nodes goes on as before, whatever
// the server's clock and the record do, and that a node whose own clock jumps follows the others.
func TestClock_Jumps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newClockWorld(t)
		for range rapid.IntRange(2, 4).Draw(t, "nodes") {
			w.start(rapid.Int64Range(-1e15, 1e15).Draw(t, "off"))
		}
		w.pass(20, false)
		records := []string{"", "x"}
		var last, lastSkew time.Duration
		for range 20 {
			back, began := rapid.Bool().Draw(t, "back"), w.now
			if len(records) < 100 {
				records = append(records, w.record)
			}
			switch event := rapid.IntRange(0, 4).Draw(t, "event"); event {
			case 0:
				w.ahead = rapid.Int64Range(-1000, 1000).Draw(t, "ahead") * 2 * second
			case 1:
				n := w.nodes[rapid.IntRange(0, len(w.nodes)-1).Draw(t, "node")]
				w.jumpOf(n, rapid.Int64Range(-1000, 1000).Draw(t, "jump")*2*second)
			case 2:
				w.record = rapid.SampledFrom(records).Draw(t, "record")
			case 3:
				if len(w.nodes) < 6 {
					w.start(0)
				}
				w.pass(int(denyAfter/time.Second)+1, back)
			case 4:
				w.pass(rapid.IntRange(0, 20).Draw(t, "seconds"), back)
			}
			w.pass(5, back) // until the nodes have decided
			// A jump that lasts is followed slowly. What is left of it may be slewed by each node, or
			// until a jump of its own clock, after which it uses the server's at once.
			now, skew := w.time(w.nodes[0]), time.Duration(0)
			for _, n := range w.nodes {
				skew = max(skew, n.reading.Load().skewAt(w.local(n), 0))
			}
			if moved := (now - last).Abs(); moved > max(skew, lastSkew)+time.Duration(w.now-began)/20 {
				t.Fatalf("time moves by %v in %v, with a skew of %v, and %v before; record %q", moved, time.Duration(w.now-began), skew, lastSkew, w.record)
			}
			last, lastSkew = now, skew
			for i, n := range w.nodes {
				if off := w.time(n); (off - now).Abs() > skew {
					t.Fatalf("the time of node %d of %d is off by %v, and node 0's by %v, with a skew of %v; record %q", i, len(w.nodes), off, now, skew, w.record)
				}
			}
		}
	})
}

func FuzzParseCorrection(f *testing.F) {
	f.Add("")
	f.Add("1 -45000000000 1800000000000000000 jumped")
	f.Add("2 0 0 not-jumped")
	f.Add("2 0 0 odd")
	f.Add("2 -9223372036854775808 0 jumped")
	f.Fuzz(func(t *testing.T, record string) {
		k, ok := parseCorrection(record)
		if !ok && k != (correction{}) || ok && k.String() != record {
			t.Errorf("%q is read as %+v", record, k)
		}
		// Sums don't overflow.
		if now := k.apply(worldStart); ok && distance(now, worldStart) > max(k.by, -k.by) {
			t.Errorf("%q corrects %d to %d", record, worldStart, now)
		}
	})
}

func TestClock_JumpText(t *testing.T) {
	for _, test := range []struct {
		by, until time.Duration
		want      string
	}{
		{0, 0, ""},
		{45 * time.Second, 10 * time.Minute, "the server's clock has jumped by -45s: time goes on as before, and follows slowly from 08:10 UTC on"},
		{-5 * time.Minute, 10 * time.Minute, "the server's clock has jumped by +5m0s: time goes on as before, and follows slowly from 08:10 UTC on"},
		{-2 * time.Hour, 10 * time.Minute, "the server's clock has jumped by +2h0m0s: time goes on as before, and follows in one step at 08:10 UTC"},
		{45 * time.Second, -time.Hour, "the server's clock has jumped by -45s: time follows slowly until 09:30 UTC"},
		{45 * time.Second, -3 * time.Hour, ""},
	} {
		c := clock{}
		c.start(time.Now())
		off := worldStart - c.wall
		c.follow(reading{at: c.local(), target: off - int64(test.by)}, "")
		r := *c.reading.Load()
		r.correction = correction{change: 1, by: int64(test.by), until: worldStart + int64(test.until)}
		c.reading.Store(&r)
		if got := c.jumpText(); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
		if got := c.jump() != 0; got != strings.Contains(test.want, "jumped") {
			t.Errorf("%q: a jump: %t", test.want, got)
		}
	}
}
