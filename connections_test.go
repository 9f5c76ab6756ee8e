package chatguard

import "testing"

func TestAGateForgetsWhoHasLeft(t *testing.T) {
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
