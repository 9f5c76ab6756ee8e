package limits

import (
	"fmt"
	"testing"
	"time"
)

func TestQuotas(t *testing.T) {
	list := []Limit{
		bucket(3, 4*time.Second).withName("room").withScope(PerChannel),
		bucket(3, 4*time.Second).withRole("vip", Numbers{Burst: 5}),
		leakyLimit(2*time.Second, 3),
		dailyLimit(300, "Europe/Berlin", "00:00"),
		window("sliding-window", 9, 1500*time.Millisecond),
		window("user-window", 9, time.Minute).withScope(PerUserEverywhere),
		bucket(1, time.Hour).withName("watch").withObserves(),
	}
	sets, err := Compile(list, testRoles, Strikes{})
	if err != nil {
		t.Fatal(err)
	}
	at := func(month time.Month, day int) int64 {
		return time.Date(2026, month, day, 12, 0, 0, 0, time.UTC).UnixNano()
	}
	plain, own := [MaxSets]map[string]Numbers{}, [MaxSets]map[string]Numbers{PerUser: {"burst": {Burst: 7}, "gone": {Burst: 1}, "daily": {Burst: 1}}}
	const others = `, "leaky";q=4;w=8, "daily";q=300;w=%d, "sliding-window";q=9;w=2, "user-window";q=9;w=60`
	for _, test := range []struct {
		about string
		roles Roles
		own   [MaxSets]map[string]Numbers
		at    int64
		want  string
	}{
		{"a winter's day", Roles{}, plain, at(1, 5), `"room";q=3;w=12, "burst";q=3;w=12` + fmt.Sprintf(others, 86400)},
		{"a role", rolesOf("vip"), plain, at(1, 5), `"room";q=3;w=12, "burst";q=5;w=20` + fmt.Sprintf(others, 86400)},
		{"own numbers, of which some don't fit", rolesOf("vip"), own, at(1, 5), `"room";q=3;w=12, "burst";q=7;w=28` + fmt.Sprintf(others, 86400)},
		{"a day of 23 hours", Roles{}, plain, at(3, 29), `"room";q=3;w=12, "burst";q=3;w=12` + fmt.Sprintf(others, 82800)},
	} {
		q := sets.Quotas(test.roles, test.own, test.at)
		if q.Text != test.want {
			t.Errorf("%s: %s, want %s", test.about, q.Text, test.want)
		}
		if !q.IsValid(test.at) || q.IsValid(test.at+day*nanosPerSecond) {
			t.Errorf("%s: the quotas must be the same until the day ends", test.about)
		}
		if found := q.Find("leaky"); found == nil || found.Step != 2*time.Second || found.Gradual || q.Find("watch") != nil {
			t.Errorf("%s: %+v, %+v", test.about, found, q.Find("watch"))
		}
	}
}
