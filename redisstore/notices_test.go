package redisstore

import (
	"strconv"
	"testing"
	"time"

	"github.com/chatguard/chatguard/shared"
)

// TestNotices checks that changes by hand reach the other nodes, and not the one that made them.
func TestNotices(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	a, b := open(t, r.URL(), Options{Node: "a"}), open(t, r.URL(), Options{Node: "b"})
	ga, gb := &fakeGuard{}, &fakeGuard{}
	run(t, a, ga)
	run(t, b, gb)
	eventually(t, "both subscribe", func() bool { return ga.count(allRows) > 0 && gb.count(allRows) > 0 })
	check(t, a, one("quiet", "", "1"), true)
	changes := map[string]int{}
	for _, channel := range []string{"lobby", "", "a b%{}"} {
		was := ""
		eventually(t, "a notice arrives", func() bool { // none does while the node subscribes again
			changes[channel]++
			is := strconv.Itoa(changes[channel])
			check(t, a, &shared.Swap{Rows: []shared.Row{row(channel, "us er\n", was, is)}, Notify: true}, true)
			check(t, a, &shared.Swap{Rows: []shared.Row{row(channel, "us er\n", "0", "x")}, Notify: true}, false, is) // nothing was changed
			was = is
			return gb.count(channel+"/us er\n") > 0
		})
	}
	if ga.count("lobby/us er\n") != 0 || gb.count("lobby/us er\n") > changes["lobby"] || gb.count("lobby/quiet") != 0 {
		t.Error(ga.forgotten, gb.forgotten)
	}
}

// TestNotices_Unreadable checks that what can't be read concerns all rows, except the node's own. A
// node looks at the clock when another one says so.
func TestNotices_Unreadable(t *testing.T) {
	n, guard := newNotices(&server{instance: "me"}), &fakeGuard{}
	for i, text := range []string{"something new", "row %zz u x", "row c %zz x", "policy %zz x", "clock", ""} {
		if n.receive(guard, text); guard.count(allRows) != i+1 {
			t.Errorf("%q: all rows are invalidated %d times, want %d", text, guard.count(allRows), i+1)
		}
	}
	for looks, text := range []string{"clock me", "clock other"} {
		if n.receive(guard, text); len(n.look) != looks {
			t.Errorf("%q: %d looks at the clock, want %d", text, len(n.look), looks)
		}
	}
	n.receive(guard, "clock other")
	if n.receive(guard, "something new me"); len(guard.forgotten) != guard.count(allRows) || len(guard.forgotten) != 6 {
		t.Error(guard.forgotten)
	}
}

// TestNotices_Gap checks that the Guard reads all rows again after the subscription broke, the
// data was lost or another server answers.
func TestNotices_Gap(t *testing.T) {
	t.Parallel()
	r, s := startStore(t, Options{})
	guard := &fakeGuard{}
	run(t, s, guard)
	more := func(what string, harm func()) {
		t.Helper()
		before := guard.count(allRows)
		harm()
		eventually(t, what, func() bool { return guard.count(allRows) > before })
	}
	more("the first subscription", func() {})
	more("the subscription was killed", func() { r.must("CLIENT", "KILL", "TYPE", "pubsub") })
	more("the data was lost", func() { r.must("FLUSHALL") })
	more("the server restarted", func() { r.Kill(); r.Start() })
	for len(s.Changes()) > 0 {
		if name := <-s.Changes(); name != "" {
			t.Errorf("changed %q", name)
		}
	}
}

// TestNotices_Tick checks that a node uses a record that another one has stored at its next look.
func TestNotices_Tick(t *testing.T) {
	t.Parallel()
	r, s := startStore(t, Options{})
	d, err := s.server.dedicate(t.Context())
	must(t, err)
	defer d.Close()
	const record = "5 0 1 not-jumped"
	r.must("SET", s.server.keys.clock(), record)
	d.measured = time.Now()
	must(t, s.notices.tick(t.Context(), d))
	if got := s.server.clock.record(); got != record {
		t.Errorf("the node uses %q, want %q", got, record)
	}
}

// TestNotices_CheckJump checks that rows are healed when the clock jumps and, while it is ahead,
// again each minute.
func TestNotices_CheckJump(t *testing.T) {
	n := newNotices(&server{options: Options{Logger: quiet()}})
	c, guard := &n.server.clock, &fakeGuard{}
	c.start(time.Now())
	c.follow(reading{at: c.local()}, "")
	healed := func(what string, want int64) {
		t.Helper()
		n.checkJump(guard)
		if n.checkJump(guard); guard.healed.Load() != want {
			t.Errorf("%s: healed %d times, want %d", what, guard.healed.Load(), want)
		}
	}
	healed("no jump", 0)
	c.follow(reading{at: c.local(), target: 300 * second}, "")
	healed("ahead", 1)
	n.healed = n.healed.Add(-2 * time.Minute)
	healed("a minute later", 2)
	c.follow(reading{at: c.local(), target: -300 * second}, "")
	healed("behind", 3)
	n.healed = n.healed.Add(-2 * time.Minute)
	healed("a minute later", 3)
}
