package lab

import (
	"reflect"
	"testing"
	"time"
)

// The sender and the limits are those of a published experiment. It says that a token bucket never
// exceeds its rate, and that a log may; counted exactly, it is the other way round.
func TestRunPush_Article(t *testing.T) {
	for i, want := range []struct {
		limit               string
		perSecond           []int
		lastAt              time.Duration
		inASecond, inATenth int
	}{
		{"token-bucket burst=1000 refill=1ms", []int{1999, 1000, 1000, 1000, 1000, 1000, 0, 1999, 1000, 2}, 9001 * time.Millisecond, 1999, 1099},
		{"token-bucket burst=100 refill=1ms", []int{1099, 1000, 1000, 1000, 599, 1000, 0, 1099, 1000, 1000, 1000, 203}, 11202 * time.Millisecond, 1099, 199},
		{"token-bucket burst=1 refill=1ms", []int{1000, 1000, 1000, 1000, 500, 1000, 0, 1000, 1000, 1000, 1000, 500}, 11499 * time.Millisecond, 1000, 100},
		{"leaky-bucket every=1ms queue=999", []int{1000, 1000, 1000, 1000, 1000, 1000, 999, 1000, 1000, 1000, 1}, 10 * time.Second, 1000, 100},
		{"leaky-bucket every=1ms", []int{1000, 1000, 1000, 1000, 500, 1000, 0, 1000, 1000, 1000, 1000, 500}, 11499 * time.Millisecond, 1000, 100},
		{"fixed-window messages=1000 every=1s", []int{2000, 1000, 1000, 1000, 1000, 1000, 0, 2000, 1000}, 8500 * time.Millisecond, 2000, 1000},
		{"user-window messages=1000 every=1s", []int{1000, 1000, 1000, 1000, 1000, 1000, 0, 1000, 1000, 1000, 1000}, 10 * time.Second, 1000, 1000},
		// 7/999 of the window after 10.5 s, rounded up to a nanosecond.
		{"sliding-window messages=1000 every=1s", []int{1499, 1000, 999, 999, 749, 750, 0, 1499, 999, 999, 507}, 10_507_007_008, 1499, 1000},
		{"sliding-log messages=1000 every=1s", []int{1000, 1000, 1000, 1000, 1000, 1000, 0, 1000, 1000, 1000, 1000}, 10 * time.Second, 1000, 1000},
	} {
		got, err := RunPush(t.Context(), Article(), ArticleLimits()[i])
		if err != nil {
			t.Fatal(err)
		}
		if text := Text(ArticleLimits()[i]); text != want.limit {
			t.Errorf("limit %d is %s, want %s", i, text, want.limit)
		}
		if !reflect.DeepEqual(got.PerSecond, want.perSecond) || got.MostInASecond != want.inASecond || got.MostInATenth != want.inATenth {
			t.Errorf("%s: per second %v, most in a second %d, in a tenth %d; want %v, %d, %d", want.limit,
				got.PerSecond, got.MostInASecond, got.MostInATenth, want.perSecond, want.inASecond, want.inATenth)
		}
		if time.Duration(got.LastAt) != want.lastAt {
			t.Errorf("%s: the last left at %s, want %s", want.limit, time.Duration(got.LastAt), want.lastAt)
		}
		sum := 0
		for _, n := range got.PerTenth {
			sum += n
		}
		if sum != 10_000 {
			t.Errorf("%s: %d messages in tenths", want.limit, sum)
		}
	}
}
