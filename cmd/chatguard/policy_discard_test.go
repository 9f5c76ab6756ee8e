//go:build unix && !race

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/journal"
)

// storeRevision writes a revision of the channel's policy to the database of a chatguard that has
// ended. The revision adds the given number of limits, the last of which has the given refill.
func (s *scene) storeRevision(number, limits int, refill time.Duration) {
	s.Helper()
	policy := config.DefaultPolicy()
	for i := range limits {
		policy.Limits = append(policy.Limits, chatguard.Limit{Name: fmt.Sprintf("more%05d", i), Algorithm: chatguard.TokenBucket, Burst: 9, Refill: time.Second})
	}
	policy.Limits[len(policy.Limits)-1].Refill = refill
	var changes []journal.Change
	for _, l := range policy.Limits[2:] {
		key := "limit." + l.Name + "."
		changes = append(changes, journal.Change{Key: key + "algorithm", To: l.Algorithm}, journal.Change{Key: key + "burst", To: l.Burst},
			journal.Change{Key: key + "refill", To: l.Refill.String()})
	}
	s.storeRaw(number, marshal(s.T, policy), marshal(s.T, changes))
}

func (s *scene) storeRaw(number int, policy, changes string) {
	s.Helper()
	s.alter(fmt.Sprintf("INSERT INTO revision (channel_id, number, author, at, policy, changes) VALUES ('%s', %d, 'mallory', %d, '%s', '%s')",
		s.twitch.UserID("gardenhour"), number, time.Now().UnixNano(), policy, changes))
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	must(t, err)
	return string(data)
}

// TestUnusableRevision_IsLeftOut checks that chatguard starts and reports the revision everywhere,
// and that the configuration's policy applies until the revision is discarded.
func TestUnusableRevision_IsLeftOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		store func(s *scene)
		why   string
	}{
		"too many limits": {func(s *scene) { s.storeRevision(1, 100, 0) }, `limit`},
		"unreadable":      {func(s *scene) { s.storeRaw(1, `{"mode":"war"}`, `[]`) }, `it can't be read`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, threeMessages)
			s.start()
			s.exhaustLimit("anna") // the channel is known from here on
			s.stop()
			c.store(s)

			s.start()
			s.exhaustLimit("berta")
			log := s.bot.log()
			if !strings.Contains(log, `level=ERROR msg="live changes can't be used; the configuration's policy applies"`) ||
				!strings.Contains(log, "channel="+s.twitch.UserID("gardenhour")+" revision=1 author=mallory problem=") || !strings.Contains(log, c.why) {
				t.Errorf("the log says\n%s", log)
			}
			const fix = "`chatguard policy discard gardenhour` discards it"
			if shown := s.run("policy", "show"); !strings.HasPrefix(shown, "# #gardenhour: as in the configuration, because what was changed live by mallory") ||
				!strings.Contains(shown, c.why) || !strings.Contains(shown, fix) || !strings.Contains(shown, "burst = 3\n") {
				t.Errorf("policy show says\n%s", shown)
			}
			if _, status := s.ask("GET", "api/v1/status", ""); !strings.Contains(status, `"state":"limits as configured","detail":"revision 1 by mallory can't be used: `) || !strings.Contains(status, fix) {
				t.Errorf("the status says %s", status)
			}
			if out := s.run("reload"); !strings.Contains(out, "\n#gardenhour: revision 1 by mallory can't be used: ") {
				t.Errorf("reload says %s", out)
			}
			out, complaint, code := s.runWithInput("", "policy", "discard", "gardenhour", "--yes")
			if want := "Discarded: revision 1 by mallory. #gardenhour has the policy of the configuration again, as of now (revision 2).\n"; code != 0 || !strings.HasSuffix(out, want) || complaint != "" {
				t.Errorf("discard ends with %d, %s%s", code, out, complaint)
			}
			if _, status := s.ask("GET", "api/v1/status", ""); strings.Contains(status, "limits as configured") {
				t.Errorf("after that the status says %s", status)
			}
			s.stop()
			s.start()
			if log := s.bot.log(); strings.Contains(log, "can't be used") {
				t.Errorf("after that a start says\n%s", log)
			}
			s.sayExcess("berta")
			s.stop()
		})
	}
}

// TestManyLimits_StartAtOnce checks that a start doesn't read a revision that is too large.
func TestManyLimits_StartAtOnce(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	s.start()
	s.exhaustLimit("anna")
	s.stop()
	s.storeRevision(1, 14_000, time.Second)
	s.start()
	s.sayExcess("anna")
	s.stop()
	if out := s.run("policy", "discard", "--yes"); !strings.Contains(out, " bytes, and at most 524288 are read\nDiscarded: revision 1 by mallory. ") ||
		!strings.HasSuffix(out, ", from the next start on (revision 2).\n") {
		t.Errorf("discard says\n%s", out)
	}
}

// TestPolicyDiscard checks that the command shows what it would discard and asks for confirmation.
// Any answer but yes discards nothing. It works whether or not chatguard is running.
func TestPolicyDiscard(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	const none = "#gardenhour: no live changes; the policy is the configuration's.\n"
	if out := s.run("policy", "discard"); out != none {
		t.Errorf("before the first start it says %q", out)
	}
	s.start()
	s.exhaustLimit("anna")
	change := func() { s.change(func(p *chatguard.Policy) { p.Limits[0].Burst = 1 }) }
	change()
	for _, running := range []bool{true, false} {
		when, revision := ", as of now (revision 2).", 1
		if !running {
			change()
			s.stop()
			when, revision = ", from the next start on (revision 4).", 3
		}
		shown := func(out string) bool {
			return strings.HasPrefix(out, fmt.Sprintf("#gardenhour: revision %d by owner, ", revision)) && strings.Contains(out, "\n  limit.few.burst: 1 (was 3)\n")
		}
		for _, answer := range []string{"", "\n", "n\n", "yesterday\n"} {
			out, complaint, code := s.runWithInput(answer, "policy", "discard")
			if code != exitFailed || !shown(out) || !strings.HasSuffix(out, "Discard these changes and go back to the configuration? [y/N] \n") ||
				complaint != "chatguard: nothing was discarded: answer y, or add --yes\n" {
				t.Errorf("after %q it ends with %d, %s%s", answer, code, out, complaint)
			}
		}
		out, complaint, code := s.runWithInput("y\n", "policy", "discard", "GardenHour")
		want := fmt.Sprintf("Discarded: revision %d by owner. #gardenhour has the policy of the configuration again%s\n", revision, when)
		if code != 0 || !shown(out) || !strings.HasSuffix(out, want) || complaint != "" {
			t.Errorf("after a yes it ends with %d, %s%s", code, out, complaint)
		}
		if running && s.policy().Limits[0].Burst != 3 {
			t.Error("the change is in force still")
		}
	}
	if out := s.run("policy", "discard"); out != none {
		t.Errorf("after that it says %q", out)
	}
	r := s.export()
	if len(r.revisions) != 4 || r.audits != 4 {
		t.Errorf("the history has %d revisions, and %d audits", len(r.revisions), r.audits)
	}
}

// TestPolicyShow_OnlyObserves checks that the policy shown is the one in force if a live change
// requires what the bot can't do.
func TestPolicyShow_OnlyObserves(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	s.start()
	s.exhaustLimit("anna") // the channel is known from here on
	s.stop()
	s.storeRaw(1, marshal(t, config.DefaultPolicy()), `[{"key":"penalties.ladder","to":["drop"]}]`)
	shown := s.run("policy", "show")
	if !strings.Contains(shown, "\n# Only observing: penalties: the ladder has \"drop\"") || !strings.Contains(shown, "\nmode = \"observe\"\n") {
		t.Errorf("policy show says\n%s", shown)
	}
}
