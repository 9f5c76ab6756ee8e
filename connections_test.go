package chatguard

import (
	"testing"
	"time"
)

func TestGate_ForgetsClosedConnections(t *testing.T) {
	g, err := newGate("Connects", Limit{}, connectsOfUser, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"anna", "anna", "ben", ""} {
		if !g.enter(id) {
			t.Errorf("%s can't enter", id)
		}
	}
	if g.enter("anna") || len(g.open) != 2 {
		t.Errorf("open: %v", g.open)
	}
	for _, id := range []string{"anna", "anna", "ben", ""} {
		g.leave(id)
	}
	if len(g.open) != 0 {
		t.Errorf("after all have left: %v", g.open)
	}
}

func TestGate_Bounded(t *testing.T) {
	g, err := newGate("Connects", Limit{}, connectsOfUser, 2, nil)
	if err != nil || g.connects.maxMemory != connectorsMemory {
		t.Errorf("%v: whoever invents users fills the memory", err)
	}
	const refusal = "MiddlewareOptions.Connects: a leaky-bucket would delay connections, which isn't possible: use a token-bucket"
	if _, err := newGate("Connects", Limit{Algorithm: LeakyBucket, Every: time.Second}, connectsOfUser, 2, nil); err == nil || err.Error() != refusal {
		t.Errorf("a leaky-bucket: %v", err)
	}
}
