package main

import "testing"

func TestHotContestant_Limits(t *testing.T) {
	draws := messagesFrom(7, 2*batch)
	for _, c := range hotContestants {
		for pass, want := range map[bool]int{true: batch, false: 0} {
			a, err := c.open(pass)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			a.take(draws[0])
			if got := fork(a).take(draws[1]); got != want {
				t.Errorf("%s, pass %v: %d of %d messages passed after a burst, want %d", c.name, pass, got, batch, want)
			}
		}
	}
}
