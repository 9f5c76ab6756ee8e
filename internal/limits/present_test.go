package limits

import "testing"

// Only a clock that was set back to before the present changes it, and does so at once.
func TestPresent_SetBack(t *testing.T) {
	var p Present
	p.Note(nanos(0), "7", false)
	for _, test := range []struct{ to, present float64 }{{500, 0}, {-500, -500}} {
		p.SetBack(nanos(test.to))
		if got, want := p.OnTime(nanos(test.present)), nanos(test.present)+clockJump; got != want {
			t.Errorf("after %g s: a last use until %d is before the present, want %d", test.to, got, want)
		}
	}
}
