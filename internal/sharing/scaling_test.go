//go:build !race

package sharing_test

import (
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

// TestScaling_Chat checks the first worked example of docs/scaling.md.
func TestScaling_Chat(t *testing.T) {
	now := sharedStart
	policy := enforcedDefault()
	policy.Limits = []chatguard.Limit{chatguard.TokenBucketLimit("burst", 3, 4*time.Second)}
	_, _, guards, exchange := synchronised(t, 3, policy, func() time.Time { return now })
	burst, minute := 0, 0
	for end := now.Add(time.Minute); now.Before(end); {
		for range 10 {
			for _, g := range guards {
				minute += send(t, g, 5)
			}
			now = now.Add(100 * time.Millisecond)
		}
		if burst == 0 {
			burst = minute
		}
		exchange()
	}
	if burst != 9 {
		t.Errorf("%d messages are allowed in a burst, want 9", burst)
	}
	if minute < 17 || minute > 19 {
		t.Errorf("%d messages are allowed in a minute, want 17, as on one node, to 19", minute)
	}
	t.Logf("%d allowed in a burst, and %d in a minute", burst, minute)
}

// TestScaling_API checks the second worked example of docs/scaling.md. All nodes exchange at the
// same moment, once per second.
func TestScaling_API(t *testing.T) {
	now := sharedStart
	policy := enforcedDefault()
	policy.Limits = []chatguard.Limit{{Name: "requests", Algorithm: chatguard.FixedWindow, Messages: 1000, Every: time.Minute}}
	_, _, guards, exchange := synchronised(t, 4, policy, func() time.Time { return now })
	allowed := 0
	minutes := func(n int) int {
		for end := now.Add(time.Duration(n) * time.Minute); now.Before(end); {
			for range 50 {
				for _, g := range guards {
					allowed += send(t, g, 1)
				}
				now = now.Add(20 * time.Millisecond)
			}
			exchange()
		}
		return allowed
	}
	first := minutes(1)
	if first < 1000 || first > 1150 {
		t.Errorf("%d requests are allowed in the first minute, want 1,000 to 1,150", first)
	}
	if all := minutes(29); all < 30_000 || all > 30_150 {
		t.Errorf("%d requests are allowed in half an hour, want 30,000 to 30,150", all)
	}
	t.Logf("%d allowed in the first minute, and %d in half an hour", first, allowed)
}
