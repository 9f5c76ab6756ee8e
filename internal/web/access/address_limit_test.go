package access

import (
	"net/netip"
	"testing"
	"time"
)

// TestAddressLimit_ClockSetBack checks that an address that has to wait doesn't wait longer because
// the clock is set back, even if nobody else asks for anything.
func TestAddressLimit_ClockSetBack(t *testing.T) {
	now := noon
	l, err := NewAddressLimit("attempts", 2, 30*time.Second, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	addr := netip.MustParseAddr("192.0.2.1")
	for range 3 {
		if _, err := l.Take(t.Context(), addr); err != nil {
			t.Fatal(err)
		}
	}
	now = noon.Add(-time.Hour)
	if wait, err := l.Take(t.Context(), addr); wait != 30*time.Second || err != nil {
		t.Errorf("the address waits %s, %v", wait, err)
	}
	now = now.Add(30 * time.Second)
	if wait, err := l.peek(t.Context(), addr); wait != 0 || err != nil {
		t.Errorf("30 s later, it still waits %s, %v", wait, err)
	}
}
