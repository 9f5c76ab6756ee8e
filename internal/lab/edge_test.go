package lab

import (
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

func TestRunEdge(t *testing.T) {
	limits := []chatguard.Limit{
		chatguard.FixedWindowLimit("a", 15, time.Minute),
		chatguard.UserWindowLimit("a", 15, time.Minute),
		chatguard.SlidingWindowLimit("a", 15, time.Minute),
		chatguard.SlidingLogLimit("a", 15, time.Minute),
		chatguard.TokenBucketLimit("a", 3, 4*time.Second),
		chatguard.LeakyBucketLimit("a", 4*time.Second, 2),
		chatguard.DailyWindowLimit("a", 15),
	}
	want := []int64{30, 29, 29, 15, 17, 15, 30}
	for i, limit := range limits {
		n, err := RunEdge(t.Context(), time.Minute, limit)
		if err != nil || n != want[i] {
			t.Errorf("%s: %d, want %d; %v", Text(limit), n, want[i], err)
		}
	}
}
