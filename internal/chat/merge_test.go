package chat

import (
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

// TestScarceRequests: several deletes of a user become one timeout until they may speak again; who has one message to delete still has it deleted.
func TestScarceRequests(t *testing.T) {
	onStage(t, Options{Workers: 1}, func(s *stage) {
		s.platform.most = 1
		s.say("a1", "b1", "c1", "a2")
		s.did("delete a2")
		s.say("a3", "b2", "a4", "c2", "a5")
		s.did()
		s.platform.allow(2)
		s.wait(budgetTick)
		s.did("timeout a 10m0s", "delete b2")
		s.platform.allow(2)
		s.wait(budgetTick)
		s.did("delete c2")
		s.reported("delete done", "timeout done: one timeout for 3 messages: too few requests for each",
			"timeout done: one timeout for 3 messages: too few requests for each", "timeout done: one timeout for 3 messages: too few requests for each",
			"delete done", "delete done")
	}, "delete", "delete", "delete", "delete", "timeout 20m")
}

// TestMerge_Soon: penalties stay what they are if the platform takes requests for all of them within 2 s.
func TestMerge_Soon(t *testing.T) {
	for soon, want := range map[int][]string{1: {"timeout a 10m0s"}, 2: {"delete a2"}} {
		onStage(t, Options{}, func(s *stage) {
			s.platform.most, s.platform.spent, s.platform.soon = 1, 1, soon
			s.say("a1", "a2", "a3", "a4")
			s.wait(budgetTick)
			s.did()
			s.platform.allow(1)
			s.wait(budgetTick)
			s.did(want...)
		}, "delete", "delete", "delete", "timeout 20m")
	}
}

// TestMerge_Ladder: however scarce requests are, nothing is done that is stronger than the strongest penalty on the ladder, nor softer than what was due.
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
		onStage(t, Options{}, func(s *stage) {
			s.platform.most, s.platform.spent = 1, 1
			s.say("a1", "a2", "a3", "a4")
			s.platform.allow(1)
			s.wait(budgetTick)
			s.Log(ladder)
			if want == "" {
				s.did()
			} else {
				s.did(want)
			}
		}, strings.Split(ladder, ",")...)
	}
}

// TestMerge_LadderInForce: a ladder that has become softer meanwhile counts.
func TestMerge_LadderInForce(t *testing.T) {
	onStage(t, Options{}, func(s *stage) {
		s.platform.most, s.platform.spent = 1, 1
		s.say("a1", "a2", "a3")
		p := s.guard.Policy("1")
		p.Penalties.Ladder = p.Penalties.Ladder[:1]
		if err := s.guard.SetPolicy("1", p, time.Now()); err != nil {
			t.Fatal(err)
		}
		s.platform.allow(1)
		s.wait(budgetTick)
		s.did("delete a2")
	}, "delete", "delete", "timeout 10m")
}

// TestEveryonesLimitsSilenceNobody: where others may have used it up, scarce requests are no reason for a timeout.
func TestEveryonesLimitsSilenceNobody(t *testing.T) {
	onStage(t, Options{Workers: 1}, func(s *stage) {
		p := s.guard.Policy("1")
		p.Limits = append(p.Limits, chatguard.Limit{Name: "all", Algorithm: chatguard.FixedWindow, Per: chatguard.PerChannel, Messages: 3, Every: time.Hour})
		p.Limits[0].Burst = 3
		if err := s.guard.SetPolicy("1", p, time.Now()); err != nil {
			t.Fatal(err)
		}
		s.platform.most, s.platform.spent = 1, 1
		s.say("a1", "b1", "c1", "a2", "a3", "b2")
		s.platform.allow(2)
		s.wait(budgetTick)
		s.did("delete a2", "delete a3")
	}, "delete", "delete")
}
