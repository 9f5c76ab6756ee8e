package simulate

import (
	"fmt"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/roles"
)

// TestRemaining_ReplaysAWeek checks that recorded usage is spent again in the user's own days. The
// result must show the end of each day and the user's grants.
func TestRemaining_ReplaysAWeek(t *testing.T) {
	// The day before clocks go forward in Berlin.
	saturday := time.Date(2026, 3, 28, 0, 0, 0, 0, time.UTC)
	at := func(hours float64) time.Time { return saturday.Add(time.Duration(hours * float64(time.Hour))) }
	hourly := chatguard.Limit{Name: "hourly", Algorithm: chatguard.FixedWindow, Messages: 4, Every: time.Hour, Mode: chatguard.ModeObserve}
	total := chatguard.Limit{Name: "total", Algorithm: chatguard.UserWindow, Per: chatguard.PerUserEverywhere, Messages: 4, Every: 24 * time.Hour}
	twenty := chatguard.UserOverride{Limits: map[string]chatguard.Override{"daily": {Messages: 20}}}
	unfit := chatguard.UserOverride{Limits: map[string]chatguard.Override{"daily": {Burst: 20}}}
	daily := chatguard.Limit{Name: "daily", Algorithm: chatguard.DailyWindow, Messages: 5, ResetAt: "00:00", Timezone: "Europe/Berlin"}
	vip := daily
	vip.Roles = map[chatguard.Role]chatguard.Override{roles.VIP: {Messages: 8}}
	spent := []journal.QuarterHour{{At: at(-6), Spent: 1}, {At: at(22.75), Spent: 2}, {At: at(23), Spent: 1}, {At: at(30), Spent: 9}, {At: at(46.5), Spent: 1}}
	known, later := History{Spent: spent}, History{Spent: spent[1:]}
	given := History{spent, []Change{{At: at(22.8)}, {at(30.1), 3}, {At: at(40)}}}
	early := History{[]journal.QuarterHour{{At: at(0), Spent: 2}}, []Change{{at(1), 1}}}
	for name, test := range map[string]struct {
		limit chatguard.Limit
		own   chatguard.UserOverride
		known History
		want  string // hours after the start: remaining
	}{
		// Sunday starts at 23:00 UTC and Monday at 22:00.
		"in Berlin":          {daily, chatguard.UserOverride{}, known, "20: 5, 22.75: 3, 23: 4, 30: 0, 46: 5, 46.5: 4"},
		"in UTC":             {daily, chatguard.UserOverride{Timezone: "UTC"}, known, "20: 5, 22.75: 3, 23: 2, 24: 5, 30: 0, 48: 5"},
		"with numbers":       {daily, twenty, known, "20: 20, 22.75: 18, 23: 19, 30: 10, 46: 20, 46.5: 19"},
		"with unfit numbers": {daily, unfit, known, "20: 5, 22.75: 3, 23: 4, 30: 0, 46: 5, 46.5: 4"},
		"of a role":          {vip, chatguard.UserOverride{}, known, "20: 8, 22.75: 6, 23: 7, 30: 0, 46: 8, 46.5: 7"},
		"by the hour":        {hourly, chatguard.UserOverride{}, known, "20: 4, 22.75: 2, 23: 3, 24: 4, 30: 0, 31: 4, 46.5: 3, 47: 4"},
		"counted elsewhere":  {total, chatguard.UserOverride{}, known, "20: 4, 22.75: 2, 23: 1, 30: 0, 46.75: 4"},
		"known from then on": {daily, chatguard.UserOverride{}, later, "22.75: 3, 23: 4, 30: 0, 46: 5, 46.5: 4"},
		"given something":    {daily, chatguard.UserOverride{}, given, "20: 5, 22.75: 3, 22.8: 5, 23: 4, 30: 0, 30.1: 3, 40: 5, 46.5: 4"},
		"spent before":       {daily, chatguard.UserOverride{}, early, "20: 4, 23: 5"},
		"of whom nothing is": {daily, chatguard.UserOverride{}, History{}, ""},
	} {
		points, err := Remaining(test.limit, test.own, roles.VIP, test.known, at(20), at(48.25))
		got := ""
		for i, p := range points {
			if i > 0 {
				got += ", "
			}
			got += fmt.Sprintf("%g: %d", p.At.Sub(saturday).Hours(), p.Remaining)
		}
		if err != nil || got != test.want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", name, err, got, test.want)
		}
	}
}
