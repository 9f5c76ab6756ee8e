package web

import (
	"testing"
	"testing/synctest"
)

// TestAGateWaitsForThoseInside, and lets nobody in meanwhile.
func TestAGateWaitsForThoseInside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gate
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
