package config

import (
	"slices"
	"testing"
)

func TestDifferences(t *testing.T) {
	const text = `
		timezone = "Europe/Berlin"
		[twitch]
		channels = ["gardenhour"]
		[raid]
		lasts = "5m"
		[penalties]
		ladder = ["delete"]
		[channel.gardenhour]
		timezone = "UTC"
	`
	before, after := mustParse(t, "c.toml", "", nil), mustParse(t, "c.toml", text, nil)
	if got := Differences(before, before); got != nil {
		t.Errorf("of itself: %q", got)
	}
	want := []string{"timezone", "twitch.channels", "raid.lasts", "penalties.ladder", "channel"}
	if got := Differences(before, after); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	limits := mustParse(t, "c.toml", "[[limit]]\nname = \"a\"\nalgorithm = \"token-bucket\"\nburst = 1\nrefill = \"1s\"", nil)
	if got := Differences(before, limits); !slices.Equal(got, []string{"limit"}) {
		t.Errorf("got %q", got)
	}
}
