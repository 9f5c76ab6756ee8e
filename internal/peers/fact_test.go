package peers

import "testing"

// TestFact_Problem checks that a fact fails if chatguard's answer isn't the stated one, and if a
// stated difference is gone.
func TestFact_Problem(t *testing.T) {
	same, other := fact{theirs: 3}, fact{theirs: 3}.but(2, "a reason")
	for _, c := range []struct {
		want   fact
		answer any
		fails  bool
	}{
		{same, 3, false}, {same, 2, true},
		{other, 2, false}, {other, 3, true}, {other, 1, true},
	} {
		if problem := c.want.problem(c.answer); problem != "" != c.fails {
			t.Errorf("%+v of %v: %q", c.want, c.answer, problem)
		}
	}
}
