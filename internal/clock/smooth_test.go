package clock

import (
	"testing"
	"time"
)

var monday = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

// The clock follows a step of the wall clock of up to a minute slowly, and never runs backwards. It
// follows a larger step at once.
func TestSmooth_Steps(t *testing.T) {
	for _, step := range []time.Duration{0, 500 * time.Microsecond, time.Second, 20 * time.Second, time.Minute, 61 * time.Second, 2 * time.Hour, 48 * time.Hour} {
		for _, step := range []time.Duration{step, -step} {
			var elapsed, ahead time.Duration
			c := SmoothOf(monday, func() (wall, since time.Duration) { return elapsed + ahead, elapsed })
			if got := c.Now(); !got.Equal(monday) {
				t.Fatalf("step %v: starts at %v", step, got)
			}
			elapsed, ahead = 10*time.Second, step
			want := monday.Add(elapsed)
			if step.Abs() > jump {
				want = want.Add(step)
			}
			if got := c.Now(); !got.Equal(want) {
				t.Errorf("step %v: %v at once, want %v", step, got, want)
			}
			last := c.Now()
			for range 1200 {
				elapsed += time.Second
				got := c.Now()
				if passed := got.Sub(last); passed < 950*time.Millisecond || passed > 1050*time.Millisecond {
					t.Fatalf("step %v: %v passed within a second", step, passed)
				}
				last = got
			}
			if off := last.Sub(monday.Add(elapsed + step)).Abs(); off > tolerance {
				t.Errorf("step %v: %v away from the wall clock after 20 minutes", step, off)
			}
		}
	}
}

// A step that is undone while the clock follows it has no effect afterwards.
func TestSmooth_ThereAndBack(t *testing.T) {
	var elapsed, ahead time.Duration
	c := SmoothOf(monday, func() (wall, since time.Duration) { return elapsed + ahead, elapsed })
	for _, s := range []struct{ at, ahead, want time.Duration }{
		{at: 0, ahead: 0, want: 0},
		{at: 10 * time.Second, ahead: -20 * time.Second, want: 10 * time.Second},
		{at: 30 * time.Second, ahead: -20 * time.Second, want: 29 * time.Second},
		{at: 30*time.Second + checkEvery, ahead: 0, want: 29*time.Second + checkEvery*19/20},
		{at: 40 * time.Second, ahead: 0, want: 39*time.Second + 499*time.Millisecond},
		{at: 60 * time.Second, ahead: 0, want: 60 * time.Second},
		{at: 61 * time.Second, ahead: 48 * time.Hour, want: 48*time.Hour + 61*time.Second},
		{at: 62 * time.Second, ahead: 0, want: 62 * time.Second},
	} {
		elapsed, ahead = s.at, s.ahead
		if got := c.Now().Sub(monday); got != s.want {
			t.Errorf("at %v with the wall clock %v ahead: %v, want %v", s.at, s.ahead, got, s.want)
		}
	}
}

// The clock reads the wall clock only from time to time, because most readings need only the
// monotonic clock.
func TestSmooth_ReadsWallClockSeldom(t *testing.T) {
	var elapsed time.Duration
	read := 0
	c := SmoothOf(monday, func() (wall, since time.Duration) {
		read++
		return elapsed + 2*time.Hour, elapsed
	})
	c.elapsed = func() time.Duration { return elapsed }
	for elapsed = 0; elapsed < checkEvery; elapsed += time.Millisecond {
		if got := c.Now(); !got.Equal(monday.Add(elapsed)) || read > 0 {
			t.Fatalf("after %v: %v, with %d readings of the wall clock", elapsed, got, read)
		}
	}
	for range 3 {
		if got := c.Now(); !got.Equal(monday.Add(elapsed+2*time.Hour)) || read != 1 {
			t.Errorf("after %v: %v, with %d readings of the wall clock", elapsed, got, read)
		}
	}
}
