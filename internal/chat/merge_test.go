package chat

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
)

// TestMerge_ScarceRequests checks that several deletions for a user become one timeout, which lasts
// until the user's next message is allowed. A single message is still deleted.
func TestMerge_ScarceRequests(t *testing.T) {
	testWithBot(t, Options{Workers: 1}, func(s *stage) {
		s.platform.most = 1
		s.say("a1", "b1", "c1", "a2")
		s.checkRequests("delete a2")
		s.say("a3", "b2", "a4", "c2", "a5")
		s.checkRequests()
		s.platform.allow(2)
		s.wait(budgetTick)
		s.checkRequests("timeout a 10m0s", "delete b2")
		s.platform.allow(2)
		s.wait(budgetTick)
		s.checkRequests("delete c2")
		s.checkOutcomes("delete done", "timeout done: one timeout for 3 messages: too few requests for each",
			"timeout done: one timeout for 3 messages: too few requests for each", "timeout done: one timeout for 3 messages: too few requests for each",
			"delete done", "delete done")
	}, "delete", "delete", "delete", "delete", "timeout 20m")
}

// TestMerge_Soon checks that penalties are not merged if the platform accepts requests for all of
// them within 2 s.
func TestMerge_Soon(t *testing.T) {
	for soon, want := range map[int][]string{1: {"timeout a 10m0s"}, 2: {"delete a2"}} {
		testWithBot(t, Options{}, func(s *stage) {
			s.platform.most, s.platform.spent, s.platform.soon = 1, 1, soon
			s.say("a1", "a2", "a3", "a4")
			s.wait(budgetTick)
			s.checkRequests()
			s.platform.allow(1)
			s.wait(budgetTick)
			s.checkRequests(want...)
		}, "delete", "delete", "delete", "timeout 20m")
	}
}

// TestMerge_Ladder checks the bounds of a merged penalty: never harder than the hardest on the
// ladder, never softer than the penalties due.
func TestMerge_Ladder(t *testing.T) {
	for ladder, want := range map[string]string{
		"delete":                               "delete a2",
		"none,none,none,timeout 20m":           "",
		"delete,warn":                          "delete a2",
		"delete,delete,delete,ban":             "delete a2",
		"delete,delete,delete,drop":            "delete a2",
		"delete,delete,delete,timeout 30s":     "timeout a 30s",
		"delete,delete,delete,timeout 20m,ban": "timeout a 10m0s",
		"delete,delete,delete,timeout refill":  "timeout a 10m0s",
		"delete,timeout 20m,timeout 30s":       "timeout a 20m0s",
		"delete,timeout refill,timeout 30s":    "timeout a 1h0m0s",
		"delete,timeout 20m,ban":               "ban a",
	} {
		testWithBot(t, Options{}, func(s *stage) {
			s.platform.most, s.platform.spent = 1, 1
			s.say("a1", "a2", "a3", "a4")
			s.platform.allow(1)
			s.wait(budgetTick)
			s.Log(ladder)
			if want == "" {
				s.checkRequests()
			} else {
				s.checkRequests(want)
			}
		}, strings.Split(ladder, ",")...)
	}
}

// TestMerge_LadderInForce checks that a merge uses the ladder in force, even if it has become
// softer meanwhile.
func TestMerge_LadderInForce(t *testing.T) {
	testWithBot(t, Options{}, func(s *stage) {
		s.platform.most, s.platform.spent = 1, 1
		s.say("a1", "a2", "a3")
		p := s.guard.ChannelPolicy("1")
		p.Penalties.Ladder = p.Penalties.Ladder[:1]
		must(t, inner.At(s.guard, time.Now()).SetChannelPolicy("1", p))
		s.platform.allow(1)
		s.wait(budgetTick)
		s.checkRequests("delete a2")
	}, "delete", "delete", "timeout 10m")
}

// TestMerge_RepeatedText checks that scarce requests cause a timeout for a text that several users
// repeat only if its limit gives strikes.
func TestMerge_RepeatedText(t *testing.T) {
	for strikes, want := range map[bool][]string{false: {"delete a1"}, true: {"timeout a 10m0s: The same message again (limit copies). It is allowed in 60 min."}} {
		testWithBot(t, Options{Workers: 1}, func(s *stage) {
			p := s.guard.ChannelPolicy("1")
			p.Limits = []chatguard.Limit{{Name: "copies", Algorithm: chatguard.FixedWindow, Per: chatguard.PerText, Messages: 1, Every: time.Hour, Strikes: strikes}}
			must(t, inner.At(s.guard, time.Now()).SetChannelPolicy("1", p))
			s.platform.most, s.platform.spent = 1, 1
			var batch []Message
			for _, id := range []string{"b1", "a1", "a2"} {
				m := message(id, id[:1])
				m.SentAt, m.Text = time.Now(), "we come from another channel"
				batch = append(batch, m)
			}
			s.sink.Messages(time.Now(), batch)
			synctest.Wait()
			s.platform.allow(1)
			s.wait(budgetTick)
			s.checkRequests(want...)
		}, "delete", "delete", "timeout 10m")
	}
}

// TestMerge_SharedLimit checks that scarce requests cause no timeout for a limit that
// other users may have used up.
func TestMerge_SharedLimit(t *testing.T) {
	testWithBot(t, Options{Workers: 1}, func(s *stage) {
		p := s.guard.ChannelPolicy("1")
		p.Limits = append(p.Limits, chatguard.Limit{Name: "all", Algorithm: chatguard.FixedWindow, Per: chatguard.PerChannel, Messages: 3, Every: time.Hour})
		p.Limits[0].Burst = 3
		must(t, inner.At(s.guard, time.Now()).SetChannelPolicy("1", p))
		s.platform.most, s.platform.spent = 1, 1
		s.say("a1", "b1", "c1", "a2", "a3", "b2")
		s.platform.allow(2)
		s.wait(budgetTick)
		s.checkRequests("delete a2", "delete a3")
	}, "delete", "delete")
}
