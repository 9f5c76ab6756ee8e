package limits

import (
	"reflect"
	"testing"
	"time"
)

func TestExplain(t *testing.T) {
	// The user sends two messages at second 10, and Explain is called at second 14. Each limit
	// still has room for a message, and each limit's usage expires at its own time.
	table := newTable(t, sevenLimits()...)
	run(t, table, []step{{at: 10, ok: true}, {at: 10, ok: true}})
	d, levels, s := table.Explain("7", &Request{At: nanos(14), Cost: 2})
	want := []struct {
		name          string
		used, left    int64
		resetAt, next float64
	}{
		{"burst", 1, 2, 18, 14}, // one returns at 14 s, the other at 18 s
		{"leaky", 1, 2, 18, 14},
		{"fixed-window", 2, 1, 60, 14},
		{"daily", 2, 1, day, 14},
		{"user-window", 2, 1, 70, 14},
		{"sliding-window", 2, 1, 120, 14},
		{"sliding-log", 2, 1, 70, 14},
	}
	for i, want := range want {
		l := levels[i]
		if l.Limit.Name() != want.name || l.Used != want.used || l.Capacity != 3 || l.Remaining != want.left || l.Granted != 0 {
			t.Errorf("%s: %+v, want %+v", l.Limit.Name(), l, want)
		}
		if l.ResetAt != nanos(want.resetAt) || l.NextAt != nanos(want.next) {
			t.Errorf("%s: next %d, reset %d, want %d and %d", want.name, l.NextAt, l.ResetAt, nanos(want.next), nanos(want.resetAt))
		}
		if l.Role != "" || l.Own || !l.Decides || l.Scope != PerUser {
			t.Errorf("%s: %+v", want.name, l)
		}
	}
	if len(levels) != len(want) || !reflect.DeepEqual(s, Standing{}) {
		t.Errorf("%d levels, %+v", len(levels), s)
	}
	if peeked := table.Peek("7", &Request{At: nanos(14), Cost: 2}); !equalDecisions(d, peeked) || d.Allowed || d.Limit.Name() != "daily" {
		t.Errorf("explained as %+v, peeked %+v", d, peeked)
	}
	if used := table.usage(t, 14, "daily"); used != 2 {
		t.Errorf("the explanation has spent: %d are used", used)
	}
}

func TestExplain_UnknownUser(t *testing.T) {
	table := newTable(t, sevenLimits()...)
	d, levels, s := table.Explain("7", &Request{At: nanos(10), Cost: 1})
	if !d.Allowed || len(levels) != 7 || !reflect.DeepEqual(s, Standing{}) || table.Users() != 0 {
		t.Errorf("%+v, %d levels, %+v, %d users", d, len(levels), s, table.Users())
	}
	for _, l := range levels {
		if l.Used != 0 || l.Remaining != 3 || l.NextAt != nanos(10) {
			t.Errorf("%s: %+v", l.Limit.Name(), l)
		}
	}
}

func TestExplain_RoleOrOwnNumbers(t *testing.T) {
	first := bucket(2, time.Hour)
	first.Roles = map[string]Numbers{"subscriber": {Burst: 4}, "vip": {Refill: time.Minute}}
	table := newTable(t, first, dailyLimit(10, "UTC", "").withRole("subscriber", Numbers{Messages: 20}), bucket(1, time.Hour).withName("watch").withObserves())
	table.mustSetOwn(t, 0, Own{Timezone: "UTC", Numbers: map[string]Numbers{"daily": {Messages: 30}}})
	table.Grant("7", "", 5, nanos(0))
	for _, test := range []struct {
		roles     Roles
		capacity  [3]int64
		role      [3]string
		remaining [3]int64
	}{
		{Roles{}, [3]int64{2, 30, 1}, [3]string{}, [3]int64{2, 35, 1}},
		{rolesOf("subscriber"), [3]int64{4, 30, 1}, [3]string{"subscriber", "subscriber"}, [3]int64{4, 35, 1}},
		{rolesOf("subscriber", "vip"), [3]int64{2, 30, 1}, [3]string{"vip", "subscriber"}, [3]int64{2, 35, 1}},
		{rolesOf("owner"), [3]int64{2, 30, 1}, [3]string{}, [3]int64{2, 35, 1}},
	} {
		_, levels, _ := table.Explain("7", &Request{At: nanos(0), Cost: 1, Roles: test.roles})
		for i, l := range levels {
			if l.Capacity != test.capacity[i] || l.Role != test.role[i] || l.Remaining != test.remaining[i] || l.Own != (i == 1) || l.Decides != (i < 2) {
				t.Errorf("roles %v: %+v, want %+v", test.roles, l, test)
			}
		}
		if levels[1].Granted != 5 {
			t.Errorf("granted %d", levels[1].Granted)
		}
	}
}

func TestExplain_PolicyOrder(t *testing.T) {
	c := newChats(t, bucket(1, time.Hour).withName("a").withScope(PerChannel), bucket(1, time.Hour).withName("b"), bucket(1, time.Hour).withName("c").withScope(PerUserEverywhere),
		bucket(1, time.Hour).withName("d"), bucket(1, time.Hour).withName("e").withScope(PerChannel))
	_, levels, _ := c.users[0].Explain("7", &Request{At: nanos(0), Cost: 1}, c.places("7", 0)...)
	order := ""
	for _, l := range levels {
		order += l.Limit.Name()
	}
	if order != "abcde" || levels[0].Scope != PerChannel || levels[1].Scope != PerUser || levels[2].Scope != PerUserEverywhere {
		t.Errorf("order %s, %+v", order, levels)
	}
}
