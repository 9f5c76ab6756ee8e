package main

import "testing"

func TestHTTPContestant_Limits(t *testing.T) {
	for _, c := range httpContestants {
		for pass, want := range map[bool]float64{true: 1, false: 0} {
			middleware, err := c.open(pass)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if got := serve(middleware(answered), 100).passed; got != want {
				t.Errorf("%s: %v of the requests passed, want %v", c.name, got, want)
			}
		}
	}
}
