package live

import (
	"testing"
	"testing/synctest"
)

// While a drainGroup closes, it waits for the goroutines inside and admits no others.
func TestGate_WaitsForThoseInside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g drainGroup
		if !g.enter() {
			t.Fatal("an open gate refuses")
		}
		closed := false
		go func() {
			g.close()
			closed = true
		}()
		synctest.Wait()
		if closed {
			t.Error("it is closed, and somebody is inside")
		}
		if g.enter() {
			t.Error("a gate that closes lets somebody in")
		}
		g.leave()
		synctest.Wait()
		if !closed {
			t.Error("everybody has left, and it waits")
		}
	})
}
