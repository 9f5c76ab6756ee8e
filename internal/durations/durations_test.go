package durations

import (
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"4s": 4 * time.Second, "1h30m": 90 * time.Minute, "0d": 0, "14d": 336 * time.Hour, "106751d": 106751 * 24 * time.Hour,
	} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "d", "-1d", "1.5d", "1d12h", "106752d", "99999999999999999999d", "4"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%q: %s", text, got)
		}
	}
}

func TestFormat(t *testing.T) {
	for want, d := range map[string]time.Duration{"4s": 4 * time.Second, "30m": 30 * time.Minute, "24h": day, "1h30m": 90 * time.Minute, "1m0.5s": 60500 * time.Millisecond, "0s": 0} {
		if got := Format(d); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
