package chat

import (
	"slices"
	"testing"
	"time"
)

func TestTooLate(t *testing.T) {
	testWithBot(t, Options{Patience: 10 * time.Second}, func(s *stage) {
		s.platform.most, s.platform.spent = 1, 1
		s.say("a1", "b1", "a2", "a3")
		s.wait(6 * time.Second)
		s.say("b2")
		s.wait(5 * time.Second)
		s.checkOutcomes("delete skipped: too late: the request budget is used up", "delete skipped: too late: the request budget is used up")
		s.platform.allow(1)
		s.wait(time.Second)
		s.checkRequests("delete b2")
		release := s.hold()
		s.platform.allow(100)
		s.bot.options.Workers = 1
		s.say("c1", "a4", "b3", "c2")
		s.wait(11 * time.Second)
		s.checkOutcomes("delete done", "delete failed: too late: context deadline exceeded", "delete skipped: too late: the chat's server was slow")
		release()
	}, "delete")
}

// TestTooLate_Reason checks that the journal names what delayed a penalty the longest.
func TestTooLate_Reason(t *testing.T) {
	const busy = "refused requests until noon"
	for name, test := range map[string]struct {
		play func(*stage)
		want string
	}{
		"no requests": {func(s *stage) { s.wait(11 * time.Second) }, "the request budget is used up"},
		"refused":     {func(s *stage) { s.setTrouble(busy, ""); s.wait(11 * time.Second) }, busy},
		"refused for the most time": {func(s *stage) {
			s.wait(4 * time.Second)
			s.setTrouble(busy, "status 500")
			s.wait(6 * time.Second)
			s.setTrouble("", "status 500")
			s.wait(time.Second)
		}, busy},
		"no requests for the most time": {func(s *stage) {
			s.setTrouble(busy, "")
			s.wait(4 * time.Second)
			s.setTrouble("", "")
			s.wait(7 * time.Second)
		}, "the request budget is used up"},
		"errors": {func(s *stage) {
			s.hold()
			s.platform.allow(10)
			s.setTrouble("", "status 500")
			s.wait(11 * time.Second)
		}, "status 500"},
		"waiting before another try": {func(s *stage) {
			s.platform.idle = 12 * time.Second
			s.platform.allow(10)
			s.say("c1", "c2")
			s.wait(11 * time.Second)
		}, "status 429"},
		"slow": {func(s *stage) {
			s.hold()
			s.platform.allow(10)
			s.wait(11 * time.Second)
		}, "the chat's server was slow"},
	} {
		testWithBot(t, Options{Patience: 10 * time.Second, Workers: 1}, func(s *stage) {
			s.platform.most, s.platform.spent = 1, 1
			s.say("a1", "b1", "a2", "b2")
			test.play(s)
			s.mu.Lock()
			defer s.mu.Unlock()
			if !slices.Contains(s.outcomes, "delete skipped: too late: "+test.want) {
				s.Errorf("%s: %q", name, s.outcomes)
			}
		}, "delete")
	}
}

// TestTooLate_OwnQueue checks the reason for a penalty that is pending behind others, which all
// complete quickly. It is recorded as delayed by chatguard's own queue.
func TestTooLate_OwnQueue(t *testing.T) {
	testWithBot(t, Options{Patience: 3 * time.Second, Workers: 1}, func(s *stage) {
		s.platform.takes = 600 * time.Millisecond
		s.say("a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8")
		s.wait(5 * time.Second)
		s.checkOutcomes("delete done", "delete done", "delete done", "delete done", "delete done", "delete done", "delete skipped: too late: "+queueReason)
	}, "delete")
}

// TestDelayCause_Several checks that a failing platform is named before a slow one, in whatever
// order the tasks are looked at.
func TestDelayCause_Several(t *testing.T) {
	now := time.Now()
	b := &backlog{underWay: map[*task]struct{}{{waitsFor: "status 429"}: {}}}
	for range 20 {
		b.underWay[&task{began: now.Add(-slowAnswer)}] = struct{}{}
	}
	if cause, reason := b.delayCause(requests{left: 100}, now); cause != platformFails || reason != "status 429" {
		t.Errorf("cause %d, %q", cause, reason)
	}
}
