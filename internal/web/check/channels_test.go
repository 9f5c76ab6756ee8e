package check

import (
	"fmt"
	"testing"
)

// After many holders have opened all the channels they can, the next holder can still open some.
func TestChannels_LastPlacesShared(t *testing.T) {
	var c channels
	nothing, unlisted := func(string) {}, func(string) bool { return false }
	for holder := range 12 {
		opened := 0
		for refused := map[string]bool(nil); refused == nil; opened++ {
			refused, _, _ = c.add([]string{fmt.Sprint(holder, "/", opened)}, fmt.Sprint(holder), unlisted, nothing)
		}
		if opened < 2 {
			t.Fatalf("holder %d opens no channel; %d channels are open", holder, len(c.list()))
		}
	}
	if n := len(c.list()); n > MaxChannels {
		t.Errorf("%d channels are open", n)
	}
	if refused, _, _ := c.add([]string{"listed"}, "0", func(string) bool { return true }, nothing); refused != nil {
		t.Error("a listed channel is refused")
	}
}
