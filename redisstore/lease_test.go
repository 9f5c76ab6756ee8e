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

// stepLosesReply takes a step, which must find that the reply to an earlier one was lost.
func stepLosesReply(t *testing.T, l *Leadership) {
	t.Helper()
	if err := l.step(t.Context(), time.Now()); !errors.Is(err, errLostReply) {
		t.Error(err)
	}
}

// wantFence fails the test unless the node leads with this fencing number.
func wantFence(t *testing.T, l *Leadership, want int64) {
	t.Helper()
	if fence, _, ok := l.Leading(); !ok || fence != want {
		t.Errorf("leads %v, fence %d, want %d", ok, fence, want)
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
	eventually(t, "a leads", func() bool { _, _, ok := la.Leading(); return ok })
	if fence, until, _ := la.Leading(); fence != 1 || time.Until(until) > patientLease.held {
		t.Errorf("fence %d until %s", fence, until)
	}
	if !la.JudgedUntil().IsZero() {
		t.Error(la.JudgedUntil())
	}
	lb, _ := lead(b)
	judged := time.UnixMilli(1_700_000_000_123)
	la.SetJudgedUntil(judged)
	renewed := mustString(t, r.must("GET", "cg1:lead:lobby%201"))
	eventually(t, "a renews", func() bool { return mustString(t, r.must("GET", "cg1:lead:lobby%201")) != renewed })
	if _, _, ok := lb.Leading(); ok {
		t.Error("both lead")
	}
	stopA()
	if _, _, ok := la.Leading(); ok {
		t.Error("a leads after its end")
	}
	eventually(t, "b leads", func() bool { _, _, ok := lb.Leading(); return ok })
	if fence, _, _ := lb.Leading(); fence != 2 || !lb.JudgedUntil().Equal(judged) {
		t.Errorf("fence %d, judged until %s", fence, lb.JudgedUntil())
	}
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
	if fence, _, ok := successor.Leading(); !ok || fence != 2 || !successor.JudgedUntil().Equal(judged) {
		t.Errorf("leads: %v, fence %d, judged until %s, want %s", ok, fence, successor.JudgedUntil(), judged)
	}
}

// TestLead_Paused checks that another node leads after a leader's lease has expired, and not while
// the leader still acts.
func TestLead_Paused(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	paused, successor := open(t, r.URL(), Options{Node: "a"}).Lead("x"), open(t, r.URL(), Options{Node: "b"}).Lead("x")
	paused.times = leaseTimes{expires: 1500 * time.Millisecond, held: time.Second}
	successor.times = patientLease
	leads := func(l *Leadership) (fence int64, until time.Time, ok bool) {
		step(t, l)
		return l.Leading()
	}
	var first, second int64
	var until time.Time
	eventually(t, "the first node leads", func() (ok bool) { first, until, ok = leads(paused); return ok })
	eventually(t, "the second node leads", func() (ok bool) { second, _, ok = leads(successor); return ok })
	if _, _, ok := paused.Leading(); ok || time.Now().Before(until) {
		t.Error("both lead")
	}
	if second != first+1 {
		t.Errorf("fences %d and %d", first, second)
	}
	// The first node continues, and learns that it has lost the lease.
	for range 2 {
		if _, _, ok := leads(paused); ok || paused.lead != "" {
			t.Error("the first node leads again")
		}
	}
}

// What an interrupted leader may have judged until it stopped leading is stored beforehand.
func TestLead_JudgedUntil(t *testing.T) {
	t.Parallel()
	r, s := startStore(t, Options{})
	noon := time.UnixMilli(1_700_000_000_000)
	successor := func() time.Time {
		t.Helper()
		r.must("DEL", "cg1:lead:x") // it expires
		l := s.Lead("x")
		step(t, l)
		return l.JudgedUntil()
	}
	l := s.Lead("x")
	l.SetJudgedUntil(noon) // before it leads
	step(t, l)
	if got := successor(); !got.Equal(noon.Add(usualLease.held)) {
		t.Errorf("after the beginning: %s", got)
	}
	r.must("DEL", "cg1:lead:x")
	l = s.Lead("x")
	for _, judged := range []time.Time{{}, noon.Add(time.Hour)} {
		l.SetJudgedUntil(judged)
		step(t, l)
	}
	// The reply to an attempt to store it is lost.
	r.must("SET", "cg1:led:x", formatLed(3, noon.UnixMilli()))
	l.SetJudgedUntil(noon.Add(2 * time.Hour))
	stepLosesReply(t, l)
	step(t, l)
	if _, _, ok := l.Leading(); !ok {
		t.Error("it doesn't lead")
	}
	if got := successor(); !got.Equal(noon.Add(2*time.Hour + usualLease.held)) {
		t.Errorf("after a renewal: %s", got)
	}
}

// TestLead_LostReply checks that a node whose renewal succeeded without a reply goes on leading.
func TestLead_LostReply(t *testing.T) {
	t.Parallel()
	r, s := startStore(t, Options{})
	l := s.Lead("x")
	step(t, l)
	r.must("SET", "cg1:lead:x", l.record(), "PX", "15000")
	stepLosesReply(t, l)
	step(t, l)
	wantFence(t, l, 1)
	// The same when it takes the lease.
	l = s.Lead("y")
	r.must("SET", "cg1:lead:y", l.record(), "PX", "15000")
	stepLosesReply(t, l)
	if _, _, ok := l.Leading(); ok {
		t.Error("leads for an unknown time")
	}
	step(t, l)
	wantFence(t, l, 1)
	// A node that is paused between the two steps of taking a lease.
	slow, quick := s.Lead("z"), s.Lead("z")
	r.must("SET", "cg1:led:z", "4 5")
	slow.lead, slow.led = slow.record(), "3 5"
	must(t, slow.storeJudged(t.Context(), 4, 0))
	slow.SetJudgedUntil(time.Now())
	if err := slow.storeJudged(t.Context(), 4, 0); err == nil {
		t.Error("a former leader stores how far it has judged")
	}
	step(t, quick)
	wantFence(t, quick, 5)
	if judged := quick.JudgedUntil().UnixMilli(); judged != 5 {
		t.Errorf("judged until %d", judged)
	}
	r.must("SET", "cg1:led:w", "odd")
	if err := s.Lead("w").step(t.Context(), time.Now()); err == nil {
		t.Error("an odd fencing number is accepted")
	}
}
