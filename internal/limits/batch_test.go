package limits

import (
	"fmt"
	"testing"
	"time"
)

func TestJudgeAll_EqualsJudge(t *testing.T) {
	limits := []Limit{bucket(2, 4*time.Second), dailyLimit(5, "UTC", "")}
	one, all := newTable(t, limits...), newTable(t, limits...)
	var cases []Case
	for i := range 1000 {
		user := fmt.Sprint(i * i % 97)
		if i%3 == 0 {
			user = "anna" + user
		}
		cases = append(cases, Case{User: user, Request: Request{At: nanos(float64(i / 10)), Cost: int64(1 + i%2), Exempt: i%7 == 0}})
	}
	for i := range cases {
		// left over from other messages
		cases[i].Decision = Decision{Observed: true, Shared: true, NewStrike: true, Silenced: true, Strikes: 9, Rung: 9, Taken: 9}
	}
	all.JudgeAll(cases)
	for i, c := range cases {
		if want := one.judge(c.User, c.Request); !equalDecisions(c.Decision, want) {
			t.Fatalf("message %d of %s: %+v, want %+v", i, c.User, c.Decision, want)
		}
	}
	all.JudgeAll(nil)
	if one.Users() != all.Users() {
		t.Errorf("%d users, want %d", all.Users(), one.Users())
	}
}

func TestJudgeAll_EvictedRows(t *testing.T) {
	// While a batch is judged, some of its users' rows are evicted, and others get their places.
	for _, test := range []struct {
		prefix string
		added  int
	}{{"anna", 4}, {"1", 4}, {"anna", batchSize - 1}, {"1", batchSize - 1}} {
		table := newTable(t, bucket(1, time.Second))
		users := table.sameShard(2+test.added, test.prefix)
		table.judge(users[0], Request{At: nanos(0), Cost: 1})
		table.judge(users[1], Request{At: nanos(hour), Cost: 1})
		table.allDirty().Confirm()
		var cases []Case
		for _, user := range append(users[2:], users[0]) {
			cases = append(cases, Case{User: user, Request: Request{At: nanos(2 * hour), Cost: 1}})
		}
		table.JudgeAll(cases)
		for i, c := range cases {
			if !c.Decision.Allowed {
				t.Errorf("message %d of %s is throttled", i, c.User)
			}
		}
		for i, c := range cases {
			if d := table.judge(c.User, c.Request); d.Allowed {
				t.Errorf("the second message %d of %s is allowed", i, c.User)
			}
		}
		if fresh, _, _ := table.countDropped(); fresh == 0 {
			t.Error("no row has gone")
		}
	}
}
