package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/waittest"
)

// configure edits the configuration file.
func (s *scene) configure(from, to string) {
	s.Helper()
	contents, err := os.ReadFile(s.configuration)
	must(s, err)
	changed := strings.Replace(string(contents), from, to, 1)
	if changed == string(contents) {
		s.Fatalf("%q isn't in\n%s", from, contents)
	}
	must(s, os.WriteFile(s.configuration, []byte(changed), 0o600))
}

// TestRestart_KeepsUsageUnderNewConfig checks that a restart keeps the usage of the day, even if
// the configuration has another daily number or time zone.
func TestRestart_KeepsUsageUnderNewConfig(t *testing.T) {
	for name, c := range map[string]struct {
		from, to    string
		anna, berta int // messages left: anna has used all five, berta one
	}{
		"more messages":  {"messages = 5", "messages = 10", 5, 9},
		"fewer messages": {"messages = 5", "messages = 2", 0, 1},
		"zone":           {`timezone = "UTC"`, `timezone = "Pacific/Kiritimati"`, 0, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			far := time.Now().Add(12 * time.Hour).UTC().Format("15:04")
			s := newScene(t, fmt.Sprintf(`
[policy]
mode = "enforce"

[[limit]]
name = "daily"
algorithm = "daily-window"
messages = 5
reset_at = %q

[penalties]
ladder = ["delete"]
`, far))
			s.configure("[twitch]", "timezone = \"UTC\"\n\n[twitch]")
			s.start()
			s.sayAllowed("berta")
			for range 5 {
				s.sayAllowed("anna")
			}
			s.sayExcess("anna")
			s.stop()

			s.configure(c.from, c.to)
			s.start()
			for range c.anna {
				s.sayAllowed("anna")
			}
			s.sayExcess("anna")
			for range c.berta {
				s.sayAllowed("berta")
			}
			s.sayExcess("berta")
			s.stop()
		})
	}
}

// TestRestart_OwnLimitWithoutToken checks that stored usage of a channel's own limit counts from
// the first message. This works without a token, because an earlier start stored the channel's ID.
func TestRestart_OwnLimitWithoutToken(t *testing.T) {
	t.Parallel()
	s := newScene(t, `
[policy]
mode = "observe"

[[limit]]
name = "many"
algorithm = "token-bucket"
burst = 100
refill = "10h"

[[channel.gardenhour.limit]]
name = "two"
algorithm = "token-bucket"
burst = 2
refill = "10h"
`)
	s.env = append(s.env, "CHATGUARD_TWITCH_TOKEN=")
	spoken := func(n int) (r record) {
		t.Helper()
		waittest.Until(t, func() bool {
			r = s.export()
			return len(r.timeline) == n
		})
		return r
	}
	s.start()
	s.say("anna")
	s.say("anna")
	r := spoken(2)
	s.stop()
	if id := s.twitch.UserID("gardenhour"); len(r.journal) != 0 || len(r.channels) != 1 || r.channels[id] != "gardenhour" {
		t.Errorf("after the first start: %+v", r)
	}
	s.start()
	s.say("anna")
	r = spoken(3)
	if len(r.journal) != 1 || r.journal[0].Limit != "two" || r.journal[0].Outcome.Result != journal.Observed {
		t.Errorf("after the second start: %+v", r.journal)
	}
	s.stop()
	if asked := s.twitch.Requests(); len(asked) != 0 {
		t.Errorf("Twitch was asked %v", asked)
	}
}
