package chatguard

import (
	"testing"
	"time"
)

func TestMemory_Bounded(t *testing.T) {
	g := newEnforcingGuard(t, nil, &Options{MaxMemory: 100_000}) // about 1,000 users with such IDs
	for i := range 20_000 {
		m := messageFrom("invented"+string(rune('a'+i%26))+time.Duration(i).String(), float64(i)/1000)
		mustCheck(t, g, m)
	}
	m := g.Memory()
	if m.Users < 800 || m.Users > 1300 || m.Evicted < 18_000 || m.Held != 0 {
		t.Errorf("after 20,000 invented users: %+v", m)
	}
}

// logPolicy returns a policy of one sliding-log.
func logPolicy(messages int, per Scope) Policy {
	p := observingPolicy()
	p.Limits = []Limit{{Name: "log", Algorithm: SlidingLog, Messages: messages, Every: time.Hour, Per: per}}
	return p
}

func TestPolicy_Capacity(t *testing.T) {
	everywhere := logPolicy(1024, PerUserEverywhere)
	for _, test := range []struct {
		name   string
		policy Policy
		memory int64
		want   Capacity // within one percent
	}{
		{"the default policy", observingPolicy(), 0, Capacity{Users: 6_954_000}},
		{"half the memory", observingPolicy(), DefaultMemory / 2, Capacity{Users: 3_477_000}},
		{"the longest log", logPolicy(1024, PerUser), 0, Capacity{Users: 54_500}},
		{"in all channels", everywhere, 0, Capacity{Users: 11_120_000, Everywhere: 54_500}},
		{"next to nothing", observingPolicy(), 1, Capacity{Users: 1}},
	} {
		got, err := test.policy.Capacity(test.memory)
		near := func(got, want int64) bool { return got >= want-want/100 && got <= want+want/100 }
		if err != nil || !near(got.Users, test.want.Users) || !near(got.Everywhere, test.want.Everywhere) {
			t.Errorf("%s: %+v, %v; want %+v", test.name, got, err, test.want)
		}
	}
	if _, err := logPolicy(1025, PerUser).Capacity(0); err == nil {
		t.Error("a policy that isn't valid has a capacity")
	}
}
