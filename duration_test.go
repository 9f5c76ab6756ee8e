package chatguard

import (
	"encoding/json"
	"math"
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"4s": 4 * time.Second, "1h30m": 90 * time.Minute, "0d": 0, "14d": 336 * time.Hour, "106751d": 106751 * 24 * time.Hour,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "d", "-1d", "1.5d", "1d12h", "106752d", "99999999999999999999d", "4"} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("%q: %s", text, got)
		}
	}
}

// A timeout may be given in days, 14 at most.
func TestPenalty_Days(t *testing.T) {
	var p, again Penalty
	if err := p.UnmarshalText([]byte("timeout 14d")); err != nil || p != (Penalty{Action: Timeout, Duration: MaxTimeout}) {
		t.Errorf("%+v, %v", p, err)
	}
	if err := again.UnmarshalText([]byte(p.String())); err != nil || again != p {
		t.Errorf("%s is read as %+v, %v", p, again, err)
	}
	const want = "a timeout of 15d: want whole seconds from 1s to 14d, or refill"
	if err := p.UnmarshalText([]byte("timeout 15d")); err == nil || err.Error() != want {
		t.Errorf("15 days: %v", err)
	}
	var penalties Penalties
	if err := json.Unmarshal([]byte(`{"ladder":["delete","timeout 2d"],"strike_every":"0s","forget_after":"1d"}`), &penalties); err != nil ||
		penalties.Ladder[1].Duration != 48*time.Hour || penalties.ForgetAfter != 24*time.Hour {
		t.Errorf("%+v, %v", penalties, err)
	}
}

func TestFormatWait(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Hour: "0 s", 0: "0 s", 1: "1 s", 4 * time.Second: "4 s", 4*time.Second + 1: "5 s", 119 * time.Second: "119 s", 120 * time.Second: "2 min",
		121 * time.Second: "3 min", 2 * time.Hour: "2 h 0 min", 3*time.Hour + 11*time.Minute + time.Second: "3 h 12 min",
		48 * time.Hour: "2 days", 49 * time.Hour: "3 days", math.MaxInt64: "106752 days",
	} {
		if got := FormatWait(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}
