package sendtime

import (
	"encoding/json"
	"testing"
	"time"
)

func TestBounded(t *testing.T) {
	now := time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)
	for _, c := range []struct{ sent, want time.Time }{
		{now, now},
		{now.Add(-time.Millisecond), now.Add(-time.Millisecond)},
		{now.Add(-time.Minute), now.Add(-time.Minute)},
		{now.Add(-time.Minute - 1), now.Add(-time.Minute)},
		{now.AddDate(-1, 0, 0), now.Add(-time.Minute)},
		{now.Add(1), now},
		{time.Time{}, now},
	} {
		if got := Bounded(c.sent, now); !got.Equal(c.want) {
			t.Errorf("sent %v: judged at %v, want %v", c.sent, got, c.want)
		}
	}
}

func TestInstant(t *testing.T) {
	want := time.Date(2026, 3, 1, 20, 0, 0, 250e6, time.UTC)
	for text, ok := range map[string]bool{
		`"2026-03-01T20:00:00.25Z"`: true, `"2026-03-01T21:00:00.25+01:00"`: true, `1772395200250`: true,
		`"yesterday"`: false, `1772395200.25`: false, `true`: false, `"1772395200250"`: false,
	} {
		var got Instant
		if err := json.Unmarshal([]byte(text), &got); err == nil != ok || ok && !got.Equal(want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}
