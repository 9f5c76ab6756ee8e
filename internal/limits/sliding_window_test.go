package limits

import (
	"testing"
	"time"
)

func TestSlidingWindow(t *testing.T) {
	limit := window("sliding-window", 5, 10*time.Second)
	runAll(t, []scenario{
		{"the share of the window before counts", limit, []step{
			{at: 0, ok: true}, {at: 2, ok: true}, {at: 4, ok: true}, {at: 6, ok: true}, {at: 8, ok: true},
			{at: 12, ok: true}, // 5 × 0.8 + 0 + 1 = 5
			{at: 12, retry: 2}, // 5 × 0.8 + 1 + 1 = 6; 5 × 0.6 + 1 + 1 = 5
			{at: 14, ok: true}, // 5 × 0.6 + 1 + 1 = 5
			{at: 14, retry: 2}, // 5 × 0.4 + 2 + 1 = 5
		}},
		{"a full window waits for its own share to shrink", limit, []step{
			{at: 8, n: 5, ok: true}, {at: 8, retry: 4}, {at: 8, n: 2, retry: 6}, {at: 8, n: 5, retry: 12}, {at: 8, n: 6, retry: -1},
		}},
		{"what lies two windows back is forgotten", limit, []step{
			{at: 8, n: 5, ok: true}, {at: 20, n: 5, ok: true}, {at: 45, n: 5, ok: true},
		}},
		{"a late message counts in the window of the last", limit, []step{
			{at: 12, n: 5, ok: true}, {at: 11, retry: 11}, // 22 s: 5 × 0.8 + 1 = 5
		}},
		{"a window after a jump back becomes the present one", limit, []step{
			{at: 605, n: 5, ok: true}, {at: 300, retry: 12}, {at: 312, ok: true}, {at: 312, retry: 2},
		}},
		{"the share of the window before grows by no jump back", limit, []step{
			{at: 608, n: 5, ok: true}, {at: 618, ok: true}, // 5 × 0.2 + 1 = 2
			// 2 is the smallest previous count with 2 × 0.9 ≥ 5 × 0.2. At 301 s, 2 × 0.9 + 3 + 1 >
			// 5. At 305 s, 2 × 0.5 + 3 + 1 = 5.
			{at: 301, n: 2, ok: true}, {at: 301, retry: 4},
		}},
		{"the share of the window before shrinks by no jump back", limit, []step{
			// 8 × 0.5 + 1 = 5 = 5 × 0.8 + 1; 8 × 0.375 + 1 + 1 = 5
			{at: 608, n: 5, ok: true}, {at: 612, ok: true}, {at: 305, retry: 1.25},
		}},
		{"a window that contains the present is kept", window("sliding-window", 5, 600*time.Second), []step{
			{at: 590, n: 5, ok: true}, {at: 300, retry: 420}, // 720 s: 5 × 0.8 + 1 = 5
		}},
	})
}

func TestSlidingWindow_NoRounding(t *testing.T) {
	// 3 × (1 − e ÷ 10 s) + 1 ≤ 3 is true from e = 3.333… s on, so a message passes at the next
	// whole nanosecond.
	table := newTable(t, window("sliding-window", 3, 10*time.Second))
	table.send(0, 3)
	if d := table.send(1, 1); d.RetryAt != nanos(13)+333_333_334 {
		t.Errorf("retry %v after 13 s, want 333.333334 ms", time.Duration(d.RetryAt-nanos(13)))
	}
	run(t, table, []step{{at: 1, retry: 12.333333334}, {at: 13.333333333, retry: 0.000000001}, {at: 13.333333334, ok: true}})
}
