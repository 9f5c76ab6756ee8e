package redisstore

import (
	"errors"
	"testing"
	"time"
)

// step takes one step of a Leadership.
func step(t *testing.T, l *Leadership) {
	t.Helper()
	must(t, l.step(t.Context(), time.Now()))
}

// stepRepeats takes a step, which must find that a reply to an earlier one, or data were lost.
func stepRepeats(t *testing.T, l *Leadership) {
	t.Helper()
	if err := l.step(t.Context(), time.Now()); !errors.Is(err, errRepeat) {
		t.Error(err)
	}
}

// isLeading reports whether a node leads.
func isLeading(l *Leadership) bool {
	_, _, ok := l.Leading()
	return ok
}

// wantFence fails the test unless the node leads with this fencing number.
func wantFence(t *testing.T, l *Leadership, want int64) {
	t.Helper()
	if fence, _, ok := l.Leading(); !ok || fence != want {
		t.Errorf("leads %v, fence %d, want %d", ok, fence, want)
	}
}

// wantJudged fails the test unless the predecessor has judged until sure, and maybe until maybe.
func wantJudged(t *testing.T, l *Leadership, sure, maybe time.Time) {
	t.Helper()
	if s, m := l.JudgedUntil(); !s.Equal(sure) || !m.Equal(maybe) {
		t.Errorf("judged until %s, maybe until %s, want %s and %s", s, m, sure, maybe)
	}
}

// TestLead checks how a lease changes hands by its release.
func TestLead(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	a, b := open(t, r.URL(), Options{Node: "a"}), open(t, r.URL(), Options{Node: "b"})
	lead := func(s *Store) (*Leadership, func()) {
		n := runLeads(t, s, patientLease, "lobby 1")
		return n.leaderships[0], n.stop
	}
	la, stopA := lead(a)
	eventually(t, "a leads", func() bool { return isLeading(la) })
	if fence, until, _ := la.Leading(); fence != 1 || time.Until(until) > patientLease.held {
		t.Errorf("fence %d until %s", fence, until)
	}
	if sure, maybe := la.JudgedUntil(); !sure.IsZero() || !maybe.IsZero() {
		t.Error(sure, maybe)
	}
	lb, _ := lead(b)
	judged := time.UnixMilli(1_700_000_000_123)
	la.SetJudgedUntil(judged)
	renewed := mustString(t, r.must("GET", "cg1:lead:lobby%201"))
	eventually(t, "a renews", func() bool { return mustString(t, r.must("GET", "cg1:lead:lobby%201")) != renewed })
	eventually(t, "b knows who leads", func() bool { return lb.Leader() == "a" })
	if isLeading(lb) {
		t.Error("both lead")
	}
	stopA()
	if isLeading(la) {
		t.Error("a leads after its end")
	}
	eventually(t, "b leads", func() bool { return isLeading(lb) })
	if fence, _, _ := lb.Leading(); fence != 3 { // 2 is that of the release
		t.Errorf("fence %d", fence)
	}
	wantJudged(t, lb, judged, judged)
}

// TestLead_StopsDuringRenewal checks that the successor leads at once, and judges from where the
// leader stopped, if the leader's last renewal was stored and its replies were lost.
func TestLead_StopsDuringRenewal(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	leader, successor := open(t, r.URL(), Options{Node: "a"}).Lead("x"), open(t, r.URL(), Options{Node: "b"}).Lead("x")
	leader.times, successor.times = patientLease, patientLease
	judged := time.UnixMilli(1_700_000_000_123)
	step(t, leader)
	lead, led := leader.lead, leader.led
	leader.SetJudgedUntil(judged)
	step(t, leader)
	leader.lead, leader.led = lead, led // as if the replies were lost
	must(t, leader.release(t.Context()))
	step(t, successor)
	wantFence(t, successor, 3)
	wantJudged(t, successor, judged.Add(-patientLease.held), judged) // it hasn't seen the release
}

// TestLead_Paused checks that another node leads after a leader hasn't renewed for a while,
// whatever the server's clock says, and that a paused leader learns it before it acts.
func TestLead_Paused(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	paused, successor := open(t, r.URL(), Options{Node: "a"}).Lead("x"), open(t, r.URL(), Options{Node: "b"}).Lead("x")
	paused.times.held = 0 // its process is paused after each step
	began := time.Now()
	step(t, paused)
	r.must("PERSIST", "cg1:lead:x") // no clock ends it
	for _, after := range []time.Duration{0, time.Second, usualLease.expires - 1} {
		must(t, successor.step(t.Context(), began.Add(after)))
		if isLeading(successor) || successor.Leader() != "a" {
			t.Errorf("after %s: leads %v, the leader is %q", after, isLeading(successor), successor.Leader())
		}
	}
	must(t, successor.step(t.Context(), began.Add(usualLease.expires)))
	wantFence(t, successor, 2)
	if isLeading(paused) {
		t.Error("both lead")
	}
	for range 2 { // the first node continues, and learns that it has lost the lease
		step(t, paused)
		if isLeading(paused) || paused.holds || paused.Leader() != "b" {
			t.Error("the first node leads again")
		}
	}
	step(t, successor)
	wantFence(t, successor, 2)
}

// What an interrupted leader may have judged until it stopped leading is stored beforehand.
func TestLead_JudgedUntil(t *testing.T) {
	t.Parallel()
	r, s := startStore(t, Options{})
	noon := time.UnixMilli(1_700_000_000_000)
	successor := func() *Leadership {
		t.Helper()
		r.must("DEL", "cg1:lead:x") // it expires
		l := s.Lead("x")
		step(t, l)
		return l
	}
	l := s.Lead("x")
	l.SetJudgedUntil(noon) // before it leads
	step(t, l)
	wantJudged(t, successor(), noon, noon.Add(usualLease.held))
	r.must("DEL", "cg1:lead:x")
	l = s.Lead("x")
	for _, judged := range []time.Time{{}, noon.Add(time.Hour)} {
		l.SetJudgedUntil(judged)
		step(t, l)
	}
	// The reply to an attempt to store it is lost.
	r.must("SET", "cg1:led:x", formatLed(3, noon.UnixMilli()))
	l.SetJudgedUntil(noon.Add(2 * time.Hour))
	stepRepeats(t, l)
	step(t, l)
	if !isLeading(l) {
		t.Error("it doesn't lead")
	}
	wantJudged(t, successor(), noon.Add(2*time.Hour), noon.Add(2*time.Hour+usualLease.held))
}

// TestLead_LostReply checks that a node whose renewal succeeded without a reply goes on leading.
func TestLead_LostReply(t *testing.T) {
	t.Parallel()
	r, s := startStore(t, Options{})
	l := s.Lead("x")
	step(t, l)
	r.must("SET", "cg1:lead:x", l.record(), "PX", "15000")
	stepRepeats(t, l)
	step(t, l)
	wantFence(t, l, 1)
	// The same when it takes the lease.
	l = s.Lead("y")
	r.must("SET", "cg1:lead:y", l.record(), "PX", "15000")
	step(t, l)
	wantFence(t, l, 1)
	// A node that is paused between the two steps of taking a lease.
	slow, quick := s.Lead("z"), s.Lead("z")
	r.must("SET", "cg1:led:z", "4 5")
	slow.holds, slow.begun, slow.fence, slow.lead, slow.led = true, true, 3, slow.record(), "3 5"
	slow.SetJudgedUntil(time.Now())
	must(t, slow.storeJudged(t.Context(), 0))
	if slow.holds {
		t.Error("a former leader stores how far it has judged")
	}
	step(t, quick)
	wantFence(t, quick, 5)
	wantJudged(t, quick, time.UnixMilli(5-usualLease.held.Milliseconds()), time.UnixMilli(5))
}
