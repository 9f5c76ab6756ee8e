package lab

import (
	"reflect"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

// The sender and the limits are those of a published experiment. It says that a token bucket never
// exceeds its rate, and that a log may; counted exactly, it is the other way round.
// A plan is bounded, so that no question takes long.
func TestRunPush_Bounds(t *testing.T) {
	for want, plan := range map[string]Push{
		"pause is given 101 times: use 100 or fewer":            {Pauses: make([]Pause, 101)},
		"pause is 0s+13h: use 12h or less in both parts":        {Pauses: []Pause{{0, 13 * time.Hour}}},
		"pause is 13h+1s: use 12h or less in both parts":        {Pauses: []Pause{{13 * time.Hour, time.Second}}},
		"turn is 1ns/13h: use a period of 12h or less":          {Turn: Turn{1, 13 * time.Hour}},
		"lane 1: 10000 messages take more than 12h: send fewer": {Pauses: []Pause{{0, 12 * time.Hour}, {12 * time.Hour, 12 * time.Hour}}},
	} {
		if _, err := RunPush(t.Context(), plan, chatguard.TokenBucketLimit("b", 3, time.Second)); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

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
		must(t, err)
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
