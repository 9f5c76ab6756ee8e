package limits

import (
	"reflect"
	"testing"
	"time"
)

func TestPicture(t *testing.T) {
	sec := func(s float64) int64 { return nanos(s) }
	for _, test := range []struct {
		about string
		limit Limit
		sent  []float64 // seconds
		at    float64
		want  Picture
	}{
		{"a bucket in between two tokens", bucket(3, 4*time.Second), []float64{0, 0}, 1, Picture{Tokens: 1.25}},
		{"a bucket that is full again", bucket(3, 4*time.Second), []float64{0, 0}, 60, Picture{Tokens: 3}},
		{"a queue with two that wait", leakyLimit(2*time.Second, 3), []float64{0, 0, 0}, 1, Picture{Count: 2, First: sec(2)}},
		{"a message leaves", leakyLimit(2*time.Second, 3), []float64{0, 0, 0}, 2, Picture{Count: 1, First: sec(4)}},
		{"nobody waits", leakyLimit(2*time.Second, 3), []float64{0}, 1, Picture{}},
		{"a window by the clock", window("fixed-window", 9, time.Minute), []float64{70, 80}, 90, Picture{From: sec(60), Until: sec(120), Count: 2}},
		{"a window of the user", window("user-window", 9, time.Minute), []float64{70, 80}, 90, Picture{From: sec(70), Until: sec(130), Count: 2}},
		{"no window is open", window("user-window", 9, time.Minute), []float64{10}, 90, Picture{}},
		{"a day", dailyLimit(9, "UTC", "00:00"), []float64{10}, 90, Picture{From: sec(0), Until: sec(86400), Count: 1}},
		{"a sliding window", window("sliding-window", 9, 10*time.Second), []float64{0, 1, 2, 3, 11}, 12, Picture{From: sec(10), Until: sec(20), Count: 1, Previous: 4, Weight: 0.8}},
		{"a sliding window in slices", window("sliding-window", 9, 10*time.Second).withSlices(5), []float64{1, 3, 5, 5, 10.5}, 11,
			Picture{From: sec(10), Until: sec(12), Count: 4, Previous: 1, Weight: 0.5, Slices: []int64{1, 0, 0, 2, 1, 1}}},
		{"a log", window("sliding-log", 9, 10*time.Second), []float64{1, 2, 3}, 11, Picture{Count: 2, First: sec(2)}},
		{"a log that has expired", window("sliding-log", 9, 10*time.Second), []float64{1}, 11, Picture{}},
	} {
		table := newTable(t, test.limit)
		for _, at := range test.sent {
			if d := table.judge("7", Request{At: sec(at), Cost: 1}); !d.Allowed {
				t.Fatalf("%s: the message at %g s is throttled", test.about, at)
			}
		}
		_, levels, _ := table.Explain("7", &Request{At: sec(test.at), Cost: 1})
		if got := levels[0].Picture; !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, want %+v", test.about, got, test.want)
		}
	}
}

// TestAlgorithms checks that each algorithm accepts the bounds that it states, and nothing beyond.
func TestAlgorithms(t *testing.T) {
	set := func(p *Params, name string, value int64) { paramField(p, name).SetInt(value) }
	for _, a := range Algorithms() {
		least := Params{Name: "x", Algorithm: a.Name}
		suggested, roomy := least, least
		for _, p := range a.Parameters {
			if p.Kind != Count && p.Kind != Length {
				continue
			}
			set(&least, p.Name, p.Least)
			set(&suggested, p.Name, p.Suggested)
			if set(&roomy, p.Name, p.Least); p.Kind == Count && p.Name != "reserve" && p.Name != "slices" {
				set(&roomy, p.Name, p.Most)
			}
		}
		accepts := func(p Params) bool {
			_, err := Compile([]Limit{{Params: p}}, testRoles, Strikes{})
			return err == nil
		}
		if !accepts(least) || !accepts(suggested) {
			t.Errorf("%s rejects the values that it states: %+v, %+v", a.Name, least, suggested)
		}
		for _, p := range a.Parameters {
			if p.Kind != Count && p.Kind != Length {
				continue
			}
			for value, want := range map[int64]bool{p.Least - 1: false, p.Most: true, p.Most + 1: false} {
				params := least
				switch p.Name {
				case "reserve":
					params = roomy
				case "slices":
					params.Every = time.Minute        // which most slices divide
					want = want || value == p.Least-1 // like a limit without it
				}
				if set(&params, p.Name, value); accepts(params) != want {
					t.Errorf("%s with %s = %d: accepted %v, want %v", a.Name, p.Name, value, !want, want)
				}
			}
		}
	}
}
