package limits

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The channel's zone and reset_at and the user's own zone change at random times. In any span S, at
// most messages × (S / 24 h + 2) pass. Rows that have no effect are dropped in between.
func TestZoneChange_RandomChangesGainNothing(t *testing.T) {
	zones := []string{"UTC", "Europe/Berlin", "Asia/Tokyo", "Pacific/Apia", "Pacific/Kiritimati", "America/Lima", "America/Denver", "Pacific/Niue"}
	resets := []string{"", "02:30", "06:00", "12:00", "18:00", "23:30"}
	rapid.Check(t, func(rt *rapid.T) {
		messages := int64(rapid.SampledFrom([]int{1, 2, 3, 7, 10, 24}).Draw(rt, "messages"))
		oftenness := rapid.IntRange(1, 30).Draw(rt, "half hours between changes")
		idleness := rapid.IntRange(0, 60).Draw(rt, "half hours between messages")
		draw := func(from []string) string { return rapid.SampledFrom(from).Draw(rt, "zone or reset_at") }
		table := newTable(t, dailyLimit(messages, draw(zones), draw(resets)))
		crowd := neighbours(table, "7", 60)
		var passed []int64
		silentUntil := 0
		for i := range 300 {
			at := time.Date(2026, 3, 24, 0, 0, 0, 0, time.UTC).UnixNano() + int64(i)*int64(30*time.Minute)
			if i >= silentUntil {
				for table.judge("7", Request{At: at, Cost: 1}).Allowed {
					passed = append(passed, at)
				}
				if rapid.IntRange(0, 9).Draw(rt, "falls silent") == 0 {
					silentUntil = i + idleness
				}
			}
			// confirm the rows, because rows that a store hasn't confirmed aren't dropped
			table.allDirty().Confirm()
			table.judge(crowd[i/5], Request{At: at, Cost: 1}) // often a new user, who needs room
			if rapid.IntRange(0, oftenness).Draw(rt, "changes") > 0 {
				continue
			}
			switch at += rapid.Int64Range(0, int64(20*time.Minute)).Draw(rt, "when"); rapid.IntRange(0, 2).Draw(rt, "whose") {
			case 0:
				if err := table.SetOwn("7", Own{}, at); err != nil {
					rt.Fatal(err)
				}
			case 1:
				if err := table.SetOwn("7", Own{Timezone: draw(zones)}, at); err != nil {
					rt.Fatal(err)
				}
			case 2:
				set, err := newTestSet([]Limit{dailyLimit(messages, draw(zones), draw(resets))}, Strikes{})
				if err != nil {
					rt.Fatal(err)
				}
				table.Change(set, at)
			}
		}
		for i, first := range passed {
			for k, last := range passed[i:] {
				if got, span := int64(k+1), last-first; (got-2*messages)*aDay > messages*span {
					rt.Fatalf("%d pass in %v, from %s on: %d a day", got, time.Duration(span), time.Unix(0, first).UTC(), messages)
				}
			}
		}
	})
}
