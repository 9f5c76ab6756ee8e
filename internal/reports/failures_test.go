package reports

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Each step is a second apart, unless it says how much later it is.
func TestFailures(t *testing.T) {
	began := time.Date(2026, 3, 14, 20, 0, 0, 0, time.UTC)
	twitch, database := Trouble{"Twitch", "disconnected", "no route"}, Trouble{"database", "failing", "full"}
	for name, steps := range map[string][]struct {
		after   time.Duration
		current []Trouble
		want    string
	}{
		"lasting": {
			{0, []Trouble{twitch}, ""},
			{29 * time.Second, []Trouble{twitch}, ""},
			{time.Second, []Trouble{twitch}, "Twitch disconnected since 20:00:00"},
			{time.Hour, []Trouble{twitch}, ""},
			{time.Second, nil, ""},
			{119 * time.Second, nil, ""},
			{time.Second, nil, "Twitch over from 20:00:00 until 21:00:31"},
			{time.Hour, nil, ""},
			{0, []Trouble{twitch}, ""},
			{30 * time.Second, []Trouble{twitch}, "Twitch disconnected since 22:02:31"},
		},
		"short": {
			{0, []Trouble{twitch}, ""}, {20 * time.Second, nil, ""}, {20 * time.Second, []Trouble{twitch}, ""}, {20 * time.Second, nil, ""}, {time.Hour, nil, ""},
		},
		"flapping": {
			{0, []Trouble{twitch}, ""}, {30 * time.Second, []Trouble{twitch}, "Twitch disconnected since 20:00:00"},
			{time.Second, nil, ""}, {60 * time.Second, []Trouble{twitch}, ""}, {60 * time.Second, nil, ""}, {60 * time.Second, []Trouble{twitch}, ""},
			{time.Second, nil, ""}, {2 * time.Minute, nil, "Twitch over from 20:00:00 until 20:03:32"},
			{time.Second, []Trouble{twitch}, ""}, {30 * time.Second, []Trouble{twitch}, ""}, // too soon
			{4 * time.Minute, []Trouble{twitch}, ""}, {time.Minute, []Trouble{twitch}, "Twitch disconnected since 20:05:33"},
		},
		"two": {
			{0, []Trouble{twitch}, ""}, {10 * time.Second, []Trouble{twitch, database}, ""},
			{20 * time.Second, []Trouble{twitch, database}, "Twitch disconnected since 20:00:00"},
			{10 * time.Second, []Trouble{twitch, database}, "database failing since 20:00:10"},
			{time.Second, []Trouble{database}, ""}, {2 * time.Minute, []Trouble{database}, "Twitch over from 20:00:00 until 20:00:41"},
		},
	} {
		f := failures{}
		now := began
		for i, step := range steps {
			now = now.Add(step.after)
			var got []string
			for _, c := range f.step(now, step.current) {
				if c.Over {
					got = append(got, fmt.Sprintf("%s over from %s until %s", c.Name, c.Since.Format(time.TimeOnly), c.Until.Format(time.TimeOnly)))
				} else {
					got = append(got, fmt.Sprintf("%s %s since %s", c.Name, c.State, c.Since.Format(time.TimeOnly)))
				}
			}
			if text := strings.Join(got, "; "); text != step.want {
				t.Errorf("%s, step %d: %q, want %q", name, i, text, step.want)
			}
		}
	}
}
