package live

import (
	"testing"
	"testing/synctest"
)

// While a drainGroup closes, it waits for the goroutines inside and admits no others.
func TestDrainGroup_WaitsForMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g drainGroup
		if !g.enter() {
			t.Fatal("an open group refuses")
		}
		closed := false
		go func() {
			g.close()
			closed = true
		}()
		synctest.Wait()
		if closed {
			t.Error("close returned before the last goroutine left")
		}
		if g.enter() {
			t.Error("a closing group admits a goroutine")
		}
		g.leave()
		synctest.Wait()
		if !closed {
			t.Error("close still waits after the last goroutine left")
		}
	})
}
