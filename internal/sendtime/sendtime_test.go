package sendtime

import (
	"encoding/json"
	"strings"
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
	leap := time.Date(2017, 1, 1, 0, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		`"2026-03-01T20:00:00.25Z"`: want, `"2026-03-01T21:00:00.25+01:00"`: want, `1772395200250`: want, `"2026-03-01t20:00:00.25z"`: want,
		`"2026-03-01T20:00:00.250000000000Z"`: want, `"2026-03-01T20:00:00.25-00:00"`: want,
		`"2016-12-31T23:59:60Z"`: leap, `"2017-01-01T05:29:60.5+05:30"`: leap.Add(time.Second / 2), `"2016-12-31t23:59:60z"`: leap,
		`0`: time.UnixMilli(0), `99999999`: time.UnixMilli(99999999), `-1000`: time.UnixMilli(-1000),
	} {
		var got Instant
		if err := json.Unmarshal([]byte(text), &got); err != nil || !got.Equal(want) {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
	for text, says := range map[string]string{
		`"yesterday"`: "want RFC 3339 text or milliseconds since 1970, found \"yesterday\"", `true`: "want RFC 3339 text",
		`1772395200.25`: "want RFC 3339 text", `"1772395200250"`: "want RFC 3339 text",
		`"2026-03-01T20:00:61Z"`: "want RFC 3339 text", `"2026-03-01T20:60:60Z"`: "want RFC 3339 text", `"2026-03-01T20:00:60"`: "want RFC 3339 text",
		`"2026-03-01 20:00:00Z"`: "want RFC 3339 text", `"2026-02-30t20:00:00z"`: "want RFC 3339 text",
		`100000000`:           "100000000 looks like seconds",
		`1772395200`:          "1772395200 looks like seconds: want milliseconds since 1970",
		`1772395200250000`:    "1772395200250000 looks like microseconds: want milliseconds since 1970",
		`1772395200250000000`: "1772395200250000000 looks like nanoseconds: want milliseconds since 1970",
	} {
		var got Instant
		if err := json.Unmarshal([]byte(text), &got); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, %v, want %s", text, got, err, says)
		}
	}
}
