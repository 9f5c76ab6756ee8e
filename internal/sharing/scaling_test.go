//go:build !race

package sharing_test

import (
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/shared"
)

// TestScaling_Chat checks the first worked example of docs/scaling.md.
func TestScaling_Chat(t *testing.T) {
	server := newServer(t, shared.Synchronised, enforced(chatguard.TokenBucketLimit("burst", 3, 4*time.Second)))
	server.joinAll(3)
	burst := server.offer(5, 100*time.Millisecond, time.Second, time.Second)
	minute := burst + server.offer(5, 100*time.Millisecond, time.Second, 59*time.Second)
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
	server := newServer(t, shared.Synchronised, enforced(chatguard.FixedWindowLimit("requests", 1000, time.Minute)))
	server.joinAll(4)
	first := server.offer(1, 20*time.Millisecond, time.Second, time.Minute)
	if first < 1000 || first > 1150 {
		t.Errorf("%d requests are allowed in the first minute, want 1,000 to 1,150", first)
	}
	all := first + server.offer(1, 20*time.Millisecond, time.Second, 29*time.Minute)
	if all < 30_000 || all > 30_150 {
		t.Errorf("%d requests are allowed in half an hour, want 30,000 to 30,150", all)
	}
	t.Logf("%d allowed in the first minute, and %d in half an hour", first, all)
}
