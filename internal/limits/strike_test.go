package limits

import (
	"testing"
	"time"
)

func TestStrikes_NeverForgotten(t *testing.T) {
	table := newTableWithStrikes(t, Strikes{Every: 10 * time.Second}, bucket(1, 1000*time.Hour))
	table.send(0, 1)
	table.send(1, 1)
	if d := table.send(1000*hour-1, 1); d.Strikes != 2 || !d.NewStrike {
		t.Errorf("%d strikes, want 2", d.Strikes)
	}
	if s := table.standing(2000 * hour); s.Strikes != 2 || s.LapseAt != Never {
		t.Errorf("%+v, want 2 strikes that don't lapse", s)
	}
}

func TestStrikes_MaximumCount(t *testing.T) {
	table := newTableWithStrikes(t, Strikes{}, bucket(1, 1000*time.Hour))
	table.send(0, 1)
	var d Decision
	for range maxStrikes + 10 {
		d = table.send(1, 1)
	}
	if d.Strikes != maxStrikes || !d.NewStrike || d.Allowed {
		t.Errorf("%+v, want %d strikes", d, maxStrikes)
	}
	if row := rowsOf(table.allDirty()); len(row) != 2 {
		t.Errorf("rows %v", row)
	}
}

func TestLadder(t *testing.T) {
	const s = nanosPerSecond
	table := newTableWithStrikes(t, Strikes{Every: 10 * time.Second, Ladder: []int64{10 * s, 600 * s, UntilRetry, 5 * s}}, bucket(2, time.Hour))
	table.send(0, 2)
	for i, want := range []struct {
		at       float64
		n        int64
		strikes  int
		isNew    bool
		rung     int
		silenced bool
		until    float64
	}{
		{1, 1, 1, true, 0, false, 11},
		{2, 1, 1, false, 0, false, 12}, // the first rung again
		{11, 1, 2, true, 1, false, 611},
		{12, 1, 2, false, 0, true, 611},  // shorter than the one in force
		{21, 1, 3, true, 2, false, hour}, // a token returns at one hour
		{31, 1, 4, true, 3, true, hour},
		{41, 1, 5, true, 3, true, hour}, // the last rung repeats
		{51, 3, 6, true, 3, true, hour},
	} {
		d := table.send(want.at, want.n)
		if d.Allowed || d.Strikes != want.strikes || d.NewStrike != want.isNew || d.Rung != want.rung || d.Silenced != want.silenced {
			t.Errorf("step %d: %+v, want %+v", i, d, want)
		}
		if s := table.standing(want.at); s.SilentUntil != nanos(want.until) {
			t.Errorf("step %d: silent until %v s, want %v", i, float64(s.SilentUntil-nanos(0))/1e9, want.until)
		}
	}
	if s := table.standing(hour); s.SilentUntil != 0 {
		t.Errorf("silent until %d, when it is over", s.SilentUntil)
	}
}

func TestSilence_UntilRetry(t *testing.T) {
	for _, test := range []struct {
		refill time.Duration
		n      int64
		length float64
	}{
		{90 * time.Second, 1, 90},
		{1500 * time.Millisecond, 1, 2},
		{500 * time.Millisecond, 1, 1}, // at least a second
		{14 * 24 * time.Hour, 1, 14 * day},
		{1000 * time.Hour, 1, 14 * day}, // and at most two weeks
		{90 * time.Second, 2, 0},        // waiting never helps
	} {
		table := newTableWithStrikes(t, Strikes{Ladder: []int64{UntilRetry}}, bucket(1, test.refill))
		table.send(0, 1)
		table.send(0, test.n)
		want := nanos(test.length)
		if test.length == 0 {
			want = 0
		}
		if s := table.standing(0); s.SilentUntil != want {
			t.Errorf("%+v: silent until %d, want %d", test, s.SilentUntil, want)
		}
	}
}

// A clock that jumps back makes no silence longer. Otherwise the silence would block the next
// penalties.
func TestSilence_AfterJump(t *testing.T) {
	strikes := Strikes{Every: 10 * time.Second, Forget: 30 * time.Minute, Ladder: []int64{0, 60 * nanosPerSecond}}
	for _, back := range []float64{75, 10_000} {
		for _, spends := range []bool{true, false} {
			// If all messages are throttled, the last use stays unchanged.
			table := newTableWithStrikes(t, strikes, bucket(2, time.Hour))
			if spends {
				run(t, table, []step{{at: 20_000, ok: true}})
			}
			table.send(20_000, 3)
			table.send(20_010, 3) // silent for a minute
			now := 20_010 - back
			if spends {
				table.send(now, 1) // it passes
			}
			d := table.send(now, 3)
			if want := nanos(now) + 60*nanosPerSecond; d.Silenced || table.standing(now).SilentUntil > want {
				t.Errorf("%v s back: the next penalty is replaced, until %d, want %d at most", back, table.standing(now).SilentUntil, want)
			}
		}
	}
}
