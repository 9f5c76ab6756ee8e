package live

import (
	"testing"

	"github.com/chatguard/chatguard/internal/journal"
)

// TestMade_ChatModes checks that a channel says who switched its chat modes, until they change
// otherwise or aren't known.
func TestMade_ChatModes(t *testing.T) {
	m := newModel(t)
	var modes *journal.ChatModes
	m.opts.Channels = func() []Channel { return []Channel{{ID: channelID, Modes: modes}, {ID: "8", Modes: modes}} }
	want := func(when, by string) {
		t.Helper()
		if c := m.Channels(); c[0].ModesBy != by || c[1].ModesBy != "" {
			t.Errorf("%s: by %q and %q, want %q", when, c[0].ModesBy, c[1].ModesBy, by)
		}
	}
	change := func() {
		m.Made(journal.Audit{Author: "token:anna", Action: journal.ChatModesChanged, ChannelID: channelID, Detail: journal.ChatModesChange{EmoteMode: new(true)}})
	}
	on := journal.ChatModes{EmoteMode: true}
	change()
	want("unknown", "")
	modes = &on
	want("known later", "")
	change()
	want("changed", "token:anna")
	modes = &journal.ChatModes{EmoteMode: true, SlowMode: true, SlowModeWait: 30}
	want("changed on Twitch", "")
	modes = &on
	want("changed back on Twitch", "")
	change()
	modes = nil
	want("unknown again", "")
	modes = &on
	want("known again", "")
}
