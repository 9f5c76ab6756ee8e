package limits

import (
	"testing"
	"time"
)

func TestFixedWindow(t *testing.T) {
	limit := window("fixed-window", 2, time.Minute)
	runAll(t, []scenario{
		{"a number in each window", limit, []step{
			{at: 0, ok: true}, {at: 30, ok: true}, {at: 59, retry: 1}, {at: 60, n: 2, ok: true}, {at: 60, retry: 60},
		}},
		{"it starts wherever the user does", limit, []step{
			{at: 50, ok: true}, {at: 59, ok: true}, {at: 59, retry: 1}, {at: 61, ok: true}, {at: 119, ok: true}, {at: 119, retry: 1},
		}},
		{"a cost above one", limit, []step{
			{at: 0, n: 3, retry: -1}, {at: 0, ok: true}, {at: 0, n: 2, retry: 60}, {at: 0, ok: true},
		}},
		{"a late message counts in the window of the last", limit, []step{
			{at: 60, ok: true}, {at: 59, ok: true}, {at: 59, retry: 61},
		}},
		{"a window after a jump back becomes the present one", limit, []step{
			{at: 600, n: 2, ok: true}, {at: 310, retry: 50}, {at: 360, ok: true}, {at: 360, ok: true}, {at: 360, retry: 60},
		}},
		{"a window after a jump back that isn't full", limit, []step{
			{at: 600, ok: true}, {at: 310, ok: true}, {at: 310, retry: 50}, {at: 360, n: 2, ok: true},
		}},
		{"a window that contains the present is kept", window("fixed-window", 2, time.Hour), []step{
			{at: 1800, n: 2, ok: true}, {at: 60, retry: 3540}, {at: 3600, ok: true},
		}},
	})
}

func TestFixedWindow_TwiceAroundBoundary(t *testing.T) {
	table := newTable(t, window("fixed-window", 50, time.Minute))
	for i := range 50 {
		run(t, table, []step{{at: hour - 30 + float64(i)/2, ok: true}})
	}
	run(t, table, []step{{at: hour - 1, retry: 1}})
	for i := range 50 {
		run(t, table, []step{{at: hour + float64(i)/2, ok: true}})
	}
	run(t, table, []step{{at: hour + 29, retry: 31}}) // 100 in less than 60 s; the 51st fails
}

func TestFixedWindow_StartsAtEpochMultiples(t *testing.T) {
	const s = nanosPerSecond
	table := newTable(t, window("fixed-window", 1, 7*time.Second))
	for i, m := range []struct {
		at    int64
		ok    bool
		retry int64
	}{
		{0, true, 0}, {6 * s, false, 7 * s}, {7*s - 1, false, 7 * s}, {7 * s, true, 0}, {13 * s, false, 14 * s}, {20 * s, true, 0}, {20 * s, false, 21 * s}, {21 * s, true, 0},
	} {
		d := table.judge("7", Request{At: m.at, Cost: 1})
		if d.Allowed != m.ok || !m.ok && d.RetryAt != m.retry {
			t.Fatalf("step %d at %d ns: allowed is %v, retry at %d", i, m.at, d.Allowed, d.RetryAt)
		}
	}
}
