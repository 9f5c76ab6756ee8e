package chatguard

import (
	"math"
	"testing"
	"time"
)

func TestWait(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Hour: "0 s", 0: "0 s", 1: "1 s", 4 * time.Second: "4 s", 4*time.Second + 1: "5 s", 119 * time.Second: "119 s", 120 * time.Second: "2 min",
		121 * time.Second: "3 min", 2 * time.Hour: "2 h 0 min", 3*time.Hour + 11*time.Minute + time.Second: "3 h 12 min",
		48 * time.Hour: "2 days", 49 * time.Hour: "3 days", math.MaxInt64: "106752 days",
	} {
		if got := Wait(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}
