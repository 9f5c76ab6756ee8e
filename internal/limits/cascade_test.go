package limits

import (
	"testing"
	"time"
)

// twoBuckets is the cascade of the worked examples.
func twoBuckets() Limit { return cascadeLimit(3, 4*time.Second, 2, 20*time.Second).withName("burst") }

// ranked is a message at a cascade: "●" of normal priority, "◐" of low priority, "○" throttled.
type ranked struct {
	at    float64
	user  string // 7 if empty
	n     int64  // 1 if 0
	mark  string
	retry float64 // seconds, of a throttled message; -1 means never
	limit string  // that throttles it; "burst" if empty
}

func markOf(d Decision) string {
	switch {
	case !d.Allowed:
		return "○"
	case d.Low:
		return "◐"
	}
	return "●"
}

// playRanked plays messages, and checks that a throttled one passes at its retry time, and not 1 ns
// sooner.
func playRanked(t *testing.T, sets Sets, messages []ranked) {
	t.Helper()
	own := NewTable(sets[PerUser], 1<<30, new(Dropped))
	var others []Place
	if sets[PerChannel] != nil {
		others = append(others, Place{Table: NewTable(sets[PerChannel], 1<<30, new(Dropped))})
	}
	for i, m := range messages {
		user := m.user
		if user == "" {
			user = "7"
		}
		q := Request{At: nanos(m.at), Cost: max(m.n, 1)}
		var d Decision
		peeked := own.Peek(user, &q, others...)
		own.Judge(user, &q, &d, others...)
		if markOf(d) != m.mark || markOf(peeked) != m.mark {
			t.Fatalf("message %d at %v s: %s, peeked %s, want %s", i, m.at, markOf(d), markOf(peeked), m.mark)
		}
		if d.Allowed {
			continue
		}
		if limit := m.limit; d.Limit.Name() != limit && (limit != "" || d.Limit.Name() != "burst") {
			t.Fatalf("message %d at %v s: throttled by %s, want %s", i, m.at, d.Limit.Name(), m.limit)
		}
		if m.retry < 0 {
			if d.RetryAt != Never {
				t.Fatalf("message %d: retry at %d, want never", i, d.RetryAt)
			}
			continue
		}
		if want := nanos(m.at + m.retry); d.RetryAt != want {
			t.Fatalf("message %d at %v s: wait is %v, want %v s", i, m.at, time.Duration(d.RetryAt-q.At), m.retry)
		}
		early, then := q, q
		early.At, then.At = d.RetryAt-1, d.RetryAt
		if own.Peek(user, &early, others...).Allowed || !own.Peek(user, &then, others...).Allowed {
			t.Fatalf("message %d at %v s doesn't pass exactly at its retry", i, m.at)
		}
	}
}

func TestCascade(t *testing.T) {
	for _, test := range []struct {
		name     string
		limits   []Limit
		messages []ranked
	}{
		{"messages of cost 1", []Limit{twoBuckets()}, []ranked{
			{at: 0, mark: "●"}, {at: 0, mark: "●"}, {at: 0, mark: "●"}, {at: 0, mark: "◐"}, {at: 0, mark: "◐"}, {at: 0, mark: "○", retry: 4},
			{at: 4, mark: "●"}, {at: 4, mark: "○", retry: 4},
			{at: 20, mark: "●"}, {at: 20, mark: "●"}, {at: 20, mark: "●"}, {at: 20, mark: "◐"}, {at: 20, mark: "○", retry: 4},
			{at: 40, mark: "●"}, {at: 40, mark: "●"}, {at: 40, mark: "●"}, {at: 40, mark: "◐"}, {at: 40, mark: "○", retry: 4},
		}},
		{"one bucket pays the whole cost", []Limit{twoBuckets()}, []ranked{
			{n: 1, mark: "●"}, {n: 1, mark: "●"}, {n: 2, mark: "◐"}, {n: 1, mark: "●"}, {n: 2, mark: "○", retry: 8}, {n: 4, mark: "○", retry: -1},
		}},
		{"another limit refuses: neither bucket pays", []Limit{twoBuckets(), window("fixed-window", 4, time.Minute)}, []ranked{
			{at: 0, mark: "●"}, {at: 0, mark: "●"}, {at: 0, mark: "●"}, {at: 0, mark: "◐"}, {at: 0, mark: "○", retry: 60, limit: "fixed-window"},
			{at: 20, mark: "○", retry: 40, limit: "fixed-window"},
			{at: 60, mark: "●"}, {at: 60, mark: "●"}, {at: 60, mark: "●"}, {at: 60, mark: "◐"}, {at: 60, mark: "○", retry: 60, limit: "fixed-window"},
		}},
		{"a room keeps a reserve", []Limit{twoBuckets(), bucket(10, time.Second).withName("room").withScope(PerChannel).withReserve(4)}, []ranked{
			{user: "anna", mark: "●"}, {user: "anna", mark: "●"}, {user: "anna", mark: "●"}, {user: "anna", mark: "◐"}, {user: "anna", mark: "◐"},
			{user: "berta", mark: "●"}, {user: "berta", mark: "●"}, {user: "berta", mark: "●"},
			{user: "berta", mark: "○", retry: 3, limit: "room"},
			{user: "clara", mark: "●"}, {user: "clara", mark: "●"}, {user: "clara", mark: "○", retry: 1, limit: "room"},
			{at: 2, user: "clara", mark: "●"}, {at: 2, user: "berta", mark: "○", retry: 2},
			{at: 4, user: "berta", mark: "●"}, {at: 6, user: "anna", mark: "●"},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			playRanked(t, compileSets(t, Strikes{Every: 10 * time.Second, Forget: time.Hour}, test.limits...), test.messages)
		})
	}
}
