package limits

import (
	"testing"
	"time"
)

func (t *Table) mustChange(tb testing.TB, at float64, limits ...Limit) {
	tb.Helper()
	set, err := newTestSet(limits, Strikes{})
	if err != nil {
		tb.Fatal(err)
	}
	t.Change(set, nanos(at))
}

func TestChange_PracticeStrikesLapse(t *testing.T) {
	sets := map[bool]*Set{}
	for _, practice := range []bool{true, false} {
		set, err := newTestSet([]Limit{bucket(1, time.Hour)}, Strikes{Every: 10 * time.Second, Practice: practice})
		must(t, err)
		sets[practice] = set
	}
	strikes := func(table *Table, at float64) int {
		d := table.judge("7", Request{At: nanos(at), Cost: 1})
		return d.Strikes
	}
	for _, test := range []struct {
		before, after bool
		want          int
	}{{true, false, 1}, {true, true, 2}, {false, false, 2}, {false, true, 2}} {
		live := NewTable(sets[test.before], 1<<30, new(Dropped))
		strikes(live, 0)
		strikes(live, 1)
		stored := live.allDirty()
		stored.Confirm()

		live.Change(sets[test.after], nanos(2))
		if lapsed := test.want == 1; lapsed != (len(live.allDirty().Rows) > 0) {
			t.Errorf("%+v: whether the store hears of it isn't %v", test, lapsed)
		}
		if got := strikes(live, 20); got != test.want {
			t.Errorf("%+v: %d strikes after a change", test, got)
		}
		restarted := NewTable(sets[test.after], 1<<30, new(Dropped))
		restarted.mustRestore(t, stored.Rows, nanos(2))
		if got := strikes(restarted, 20); got != test.want {
			t.Errorf("%+v: %d strikes after a restart", test, got)
		}
	}
}

func TestScaleUp(t *testing.T) {
	for _, test := range [][4]int64{
		{10, 3, 4, 8}, {8, 3, 4, 6}, {1, 1, 1 << 61, 1}, {1 << 61, 1 << 61, 1, MaxTime - 1}, {1 << 61, 4, 1, MaxTime - 1}, {1 << 61, 1 << 61, 1 << 61, 1 << 61},
	} {
		if got := scaleUp(test[0], test[1], test[2]); got != test[3] {
			t.Errorf("%d × %d ÷ %d is %d, want %d", test[0], test[1], test[2], got, test[3])
		}
	}
}

// When its limit shrinks, a log keeps its old messages and the room for them.
func TestSlidingLog_KeepsRoomAfterChange(t *testing.T) {
	table := newTable(t, window("sliding-log", 1000, time.Hour))
	run(t, table, []step{{at: 0, n: 8, ok: true}})
	table.mustChange(t, 1, window("sliding-log", 5, time.Hour))
	if r := table.set.rules[0]; r.end-r.start != 1+8 {
		t.Errorf("room for %d, want what the longest log holds: 8", r.end-r.start-1)
	}
	run(t, table, []step{{at: 2, retry: 3598}})
	table.mustChange(t, 3, window("sliding-log", 10, time.Hour))
	run(t, table, []step{{at: 4, n: 3, retry: 3596}, {at: 4, n: 2, ok: true}})
}

// A message at the first possible instant has the time 0. It still counts after the log gets less
// room.
func TestSlidingLog_NarrowerKeepsTimeZero(t *testing.T) {
	table := newTable(t, window("sliding-log", 3, time.Minute))
	for range 3 {
		table.judge("7", Request{Cost: 1})
	}
	for _, messages := range []int64{1, 5} {
		set, err := newTestSet([]Limit{window("sliding-log", messages, time.Minute)}, Strikes{})
		must(t, err)
		table.Change(set, 0)
	}
	if _, levels, _ := table.Explain("7", &Request{Cost: 1}); levels[0].Used != 3 {
		t.Errorf("%d of 3 messages count", levels[0].Used)
	}
}

func TestChange_AlgorithmStartsFresh(t *testing.T) {
	table := newTable(t, bucket(3, time.Hour))
	run(t, table, []step{{at: 0, n: 3, ok: true}})
	table.mustChange(t, 0, window("fixed-window", 3, time.Hour).withName("burst"))
	run(t, table, []step{{at: 0, n: 3, ok: true}, {at: 0, retry: hour}})
	table.mustChange(t, 0, dailyLimit(3, "UTC", ""))
	run(t, table, []step{{at: 0, n: 3, ok: true}})
}
