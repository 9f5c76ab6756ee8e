package app

import (
	"errors"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
)

// A penalty that the bot can't carry out is named by its step, so that the dashboard marks it.
func TestAcceptable_NamesStep(t *testing.T) {
	c := config.Config{Twitch: config.Twitch{Channels: []string{"tea"}}}
	for _, test := range []struct {
		ladder           []chatguard.Penalty
		parameter, value string
	}{
		{[]chatguard.Penalty{{Action: chatguard.ActionDelete}, {Action: chatguard.ActionDrop}}, "penalties.ladder[1]", "drop"},
		{[]chatguard.Penalty{{Action: "mute"}}, "penalties.ladder[0]", "mute"},
		{nil, "penalties.ladder", ""},
	} {
		p := chatguard.DefaultPolicy()
		p.Penalties.Ladder = test.ladder
		wrong, ok := errors.AsType[*chatguard.PolicyError](acceptable(c, "12345", p))
		if !ok || wrong.Parameter != test.parameter || wrong.Value != test.value {
			t.Errorf("%v: %+v, want %s, %q", test.ladder, wrong, test.parameter, test.value)
		}
	}
}
