package clock

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// The clock advances with time.
func TestMonotonic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := Monotonic()
		start := now()
		if off := start.Sub(time.Now().Round(0)).Abs(); off != 0 {
			t.Errorf("starts %v away from the wall clock", off)
		}
		<-time.After(90 * time.Second)
		if passed := now().Sub(start); passed != 90*time.Second {
			t.Errorf("%v passed", passed)
		}
	})
}

// Stamps that are a little ahead move the clock forward at once. It moves back slowly once the
// stamps that were ahead are old. Late messages change nothing. If most stamps are far from the
// clock and agree, they set it after a while.
func TestChat(t *testing.T) {
	start := time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)
	elapsed := time.Duration(0)
	type step struct{ at, stamp, want time.Duration } // relative to the start; stamp -1 means none
	const none = -1
	for name, steps := range map[string][]step{
		"no stamp":                 {{0, none, 0}, {time.Hour, none, time.Hour}},
		"the local clock is right": {{0, 0, 0}, {time.Second, 900 * time.Millisecond, time.Second}},
		"the local clock is slow by two hours": {
			{0, 2 * time.Hour, 2 * time.Hour}, {time.Minute, none, 2*time.Hour + time.Minute},
		},
		"the first stamp is taken at once": {
			{10 * time.Second, 7 * time.Second, 7 * time.Second}, {20 * time.Second, 17*time.Second + 1, 17*time.Second + 1},
		},
		"the least delay counts": {
			{0, 0, 0}, {10 * time.Second, 11 * time.Second, 11 * time.Second}, {20 * time.Second, 15 * time.Second, 21 * time.Second},
		},
		"a stall of half an hour: what arrives late changes nothing": {
			{0, 0, 0}, {5 * time.Second, 5 * time.Second, 5 * time.Second},
			{1800 * time.Second, 6 * time.Second, 1800 * time.Second}, {1801 * time.Second, 900 * time.Second, 1801 * time.Second},
			{1802 * time.Second, 1802 * time.Second, 1802 * time.Second},
		},
		"the machine slept for half an hour": {
			{0, 0, 0}, {5 * time.Second, 1805 * time.Second, 5 * time.Second}, {7 * time.Second, 1807 * time.Second, 7 * time.Second},
			{34 * time.Second, 1834 * time.Second, 34 * time.Second}, {35 * time.Second, 1834 * time.Second, 1835 * time.Second}, {36 * time.Second, none, 1836 * time.Second},
		},
		"the chat's clock is set back": {
			{0, 0, 0}, {300 * time.Second, 5 * time.Second, 300 * time.Second}, {301 * time.Second, 6 * time.Second, 301 * time.Second},
			{309 * time.Second, 14 * time.Second, 309 * time.Second}, {310 * time.Second, 14 * time.Second, 15 * time.Second}, {311 * time.Second, none, 16 * time.Second},
		},
		"most stamps are earlier, and some agree with the clock": {
			{0, 0, 0}, {300 * time.Second, 5 * time.Second, 300 * time.Second}, {302 * time.Second, 7 * time.Second, 302 * time.Second},
			{304 * time.Second, 304 * time.Second, 304 * time.Second}, {306 * time.Second, 11 * time.Second, 306 * time.Second},
			{312 * time.Second, 17 * time.Second, 17 * time.Second},
		},
		"a burst of odd stamps is soon forgotten": slices.Concat(
			[]step{{0, 0, 0}}, slices.Repeat([]step{{5 * time.Second, 1805 * time.Second, 5 * time.Second}}, 20),
			slices.Repeat([]step{{6 * time.Second, 6 * time.Second, 6 * time.Second}}, maxVotes), []step{{36 * time.Second, 1836 * time.Second, 36 * time.Second}},
		),
		"one odd stamp changes nothing": {
			{0, 0, 0}, {5 * time.Second, 1805 * time.Second, 5 * time.Second}, {6 * time.Second, 6 * time.Second, 6 * time.Second},
			{7 * time.Second, 2807 * time.Second, 7 * time.Second}, {8 * time.Second, 8 * time.Second, 8 * time.Second},
		},
		"a stamp that was ahead is given up slowly": {
			{0, 10 * time.Second, 10 * time.Second},
			{11 * time.Minute, 11 * time.Minute, 11*time.Minute + 10*time.Second},
			{22 * time.Minute, 22 * time.Minute, 22*time.Minute + 10*time.Second},
			{22*time.Minute + 100*time.Second, none, 22*time.Minute + 105*time.Second},
			{22*time.Minute + 400*time.Second, none, 22*time.Minute + 400*time.Second},
		},
	} {
		elapsed = 0
		c := NewChat(func() time.Time { return start.Add(elapsed) })
		var setBack time.Time
		c.SetBack = func(to time.Time) { setBack = to }
		for n, s := range steps {
			elapsed = s.at
			last := c.Now()
			if s.stamp != none {
				c.Observe(start.Add(s.stamp))
			}
			got := c.Now()
			if got.Sub(start) != s.want {
				t.Errorf("%s, step %d: %v, want %v", name, n, got.Sub(start), s.want)
			}
			if told := !setBack.IsZero(); told != got.Before(last) || told && !setBack.Equal(got) {
				t.Errorf("%s, step %d: from %v to %v, told %v", name, n, last, got, setBack)
			}
			setBack = time.Time{}
		}
	}
}
