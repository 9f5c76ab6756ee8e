package httpguard

import (
	"strconv"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

func TestGate_ForgetsClosedConnections(t *testing.T) {
	g, err := newGate("Connects", chatguard.Limit{}, connectsOfUser, 2, time.Now)
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
	g, err := newGate("Connects", chatguard.Limit{}, connectsOfUser, 2, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 300_000 {
		if err := g.connect(t.Context(), chatguard.User{ID: strconv.Itoa(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if m := g.connects.Memory(); m.Evicted == 0 {
		t.Errorf("%+v: invented users fill the memory", m)
	}
	const refusal = "httpguard: SessionOptions.Connects: a leaky-bucket would delay connections, which isn't possible: use a token-bucket"
	if _, err := newGate("Connects", chatguard.Limit{Algorithm: chatguard.LeakyBucket, Every: time.Second}, connectsOfUser, 2, time.Now); err == nil || err.Error() != refusal {
		t.Errorf("a leaky-bucket: %v", err)
	}
}
