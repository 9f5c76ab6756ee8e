package limits

import (
	"testing"
	"time"
)

func TestPeek_SpendsNothing(t *testing.T) {
	table := newTable(t, sevenLimits()...)
	for range 10 {
		if d := table.Peek("7", &Request{At: nanos(0), Cost: 2}); !d.Allowed || d.Taken != 2 {
			t.Fatalf("%+v", d)
		}
	}
	if table.Users() != 0 {
		t.Error("who is looked at has a row")
	}
	run(t, table, []step{{at: 0, n: 3, ok: true}})
	table.allDirty().Confirm()
	for range 10 {
		table.Peek("7", &Request{At: nanos(0), Cost: 1})
		table.Peek("7", &Request{At: nanos(-2 * hour), Cost: 1})
	}
	if rows := table.allDirty().Rows; len(rows) != 0 {
		t.Errorf("rows %v have changed", rows)
	}
	if s := table.standing(0); s.Strikes != 0 {
		t.Error("a look gave a strike")
	}
}

func TestJudge_NoLimitsAllowsAll(t *testing.T) {
	table := newTable(t)
	for _, n := range []int64{1, MaxMessages, Never} {
		if d := table.send(0, n); !d.Allowed || d.Limit != nil || d.Taken != n {
			t.Errorf("%+v", d)
		}
	}
}

// The second message uses a grant. At its time, the first message counts in the previous window.
// The first message stays in that window after a jump back: its share expires a second later, not
// two.
func TestJump_SlidingWindowWithGrant(t *testing.T) {
	table := newTable(t, window("sliding-window", 1, time.Second))
	run(t, table, []step{{at: 100, ok: true}})
	table.Grant("7", "sliding-window", 1, nanos(100))
	run(t, table, []step{{at: 101, ok: true}})
	table.Refund("7", Refund{At: nanos(101), N: 1}, nanos(101)) // the window was not used
	run(t, table, []step{{at: 40, retry: 1}, {at: 41, ok: true}})
}
