//go:build !race

package main

import (
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
)

// TestPolicyShow checks the output before the first start, while chatguard runs, and
// with live changes.
func TestPolicyShow(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	if shown := s.run("policy", "show"); !strings.HasPrefix(shown, "# #gardenhour: as in the configuration\n") || !strings.Contains(shown, "burst = 3\n") {
		t.Errorf("before the first start:\n%s", shown)
	}
	s.start()
	s.exhaustLimit("anna") // the channel is known from here on
	s.change(func(p *chatguard.Policy) { p.Limits[0].Burst = 1 })
	s.sayExcess("anna")
	for _, channel := range [][]string{nil, {"GardenHour"}, {s.twitch.UserID("gardenhour")}} {
		shown := s.run(append([]string{"policy", "show"}, channel...)...)
		for _, want := range []string{
			"# #gardenhour: changed live by owner, ", "(revision 1)\n", "#   limit.few.burst: 1 (in the configuration 3)\n", "burst = 1\n",
		} {
			if !strings.Contains(shown, want) {
				t.Errorf("%v: %q is missing in\n%s", channel, want, shown)
			}
		}
	}
	exported, err := config.Parse("exported.toml", []byte(s.run("policy", "export")), nil)
	if err != nil || exported.Policy.Limits[0].Burst != 1 || exported.Policy.Mode != chatguard.ModeEnforce {
		t.Errorf("exported %+v, %v", exported.Policy, err)
	}
	s.stop()
}
