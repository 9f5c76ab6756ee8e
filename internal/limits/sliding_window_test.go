package limits

import (
	"reflect"
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

func TestSlidingWindow_Slices(t *testing.T) {
	limit := window("sliding-window", 5, 10*time.Second).withSlices(5) // of 2 s each
	runAll(t, []scenario{
		{"only the oldest slice is estimated", limit, []step{
			{at: 0, n: 2, ok: true}, {at: 3, ok: true}, {at: 8, n: 2, ok: true},
			{at: 10, retry: 1},                     // 2 × 1 + 3 + 1 = 6; 2 × 0.5 + 3 + 1 = 5 at 11 s
			{at: 11, ok: true}, {at: 11, retry: 1}, // 2 × 0 + 4 + 1 = 5 at 12 s
			{at: 12, ok: true}, {at: 12, retry: 2}, // 1 × 0 + 4 + 1 = 5 at 14 s
		}},
		{"a message waits until several slices have passed", limit, []step{
			{at: 1, n: 3, ok: true}, {at: 5, n: 2, ok: true},
			// At 12 s the first slice is over, and 2 of 5 count until 14 s; 2 × 0.5 + 4 = 5 at 15 s.
			{at: 5, n: 3, retry: 7}, {at: 5, n: 4, retry: 10}, {at: 5, n: 5, retry: 11}, {at: 5, n: 6, retry: -1},
		}},
		{"what lies further back than all slices is forgotten", limit, []step{
			{at: 1, n: 5, ok: true}, {at: 12, n: 5, ok: true}, {at: 100, n: 5, ok: true},
		}},
		{"the share of the oldest slice doesn't change if the clock jumps back", limit, []step{
			{at: 601, n: 4, ok: true}, {at: 611, ok: true}, // 4 × 0.5 + 1 = 3
			// 611 s is the middle of its slice, as is 301 s. So 4 × 0.5 + 1 + 2 = 5, and
			// 4 × 0.25 + 3 + 1 = 5.
			{at: 301, n: 2, ok: true}, {at: 301, retry: 0.5},
		}},
		{"as many slices as are possible", window("sliding-window", 50, 60*time.Second).withSlices(60), []step{
			{at: 0.5, n: 25, ok: true}, {at: 59.5, n: 25, ok: true}, {at: 60, retry: 0.04}, {at: 61, n: 25, ok: true}, {at: 61, retry: 58.04},
		}},
	})
}

// A change of the slices keeps the usage, which then counts in the current slice.
func TestSlidingWindow_OtherSlices(t *testing.T) {
	whole := window("sliding-window", 5, 10*time.Second)
	for _, test := range []struct {
		about    string
		old, new Limit
		used     int64
		after    []step
	}{
		{"slices instead of whole windows", whole, whole.withSlices(5), 4, []step{{at: 12, ok: true}, {at: 12, retry: 10.4}}},     // 5 × 0.8 + 1 = 5
		{"whole windows instead of slices", whole.withSlices(5), whole, 3, []step{{at: 12, n: 2, ok: true}, {at: 12, retry: 10}}}, // 5 × 0.8 + 1 = 5
		{"other slices", whole.withSlices(5), whole.withSlices(2), 3, []step{{at: 12, n: 2, ok: true}, {at: 12, retry: 9}}},
		{"the same slices", whole.withSlices(5), whole.withSlices(5), 3, []step{{at: 12, n: 2, ok: true}, {at: 12, retry: 2. / 3}}}, // 3 × 2/3 + 2 + 1 = 5
	} {
		table := newTable(t, test.old)
		run(t, table, []step{{at: 1, n: 2, ok: true}, {at: 2.5, n: 3, ok: true}})
		table.mustChange(t, 12, test.new)
		if used := table.usage(t, 12, "sliding-window"); used != test.used {
			t.Errorf("%s: %d are used after the change, want %d", test.about, used, test.used)
		}
		t.Run(test.about, func(t *testing.T) { run(t, table, test.after) })
	}
}

// Stored usage of slices names their number, and usage of whole windows is stored as ever.
func TestSlidingWindow_StoredSlices(t *testing.T) {
	whole := window("sliding-window", 5, 10*time.Second)
	for _, test := range []struct {
		limit Limit
		code  byte
	}{{whole, 6}, {whole.withSlices(1), 6}, {whole.withSlices(4), 9}, {whole.withSlices(5), 9}} {
		first := newTable(t, test.limit)
		run(t, first, []step{{at: 1, n: 2, ok: true}, {at: 4, ok: true}, {at: 9, ok: true}})
		rows := first.allDirty().Rows
		if len(rows) != 1 || rows[0].Data[1] != test.code {
			t.Fatalf("%d slices: rows %+v, want one with code %d", test.limit.Slices, rows, test.code)
		}
		second := newTable(t, test.limit)
		if err := second.Restore(rows[0], nanos(9)); err != nil {
			t.Fatal(err)
		}
		for at := 9.0; at < 25; at += 0.25 {
			if got, want := second.level(t, at, "sliding-window").Picture, first.level(t, at, "sliding-window").Picture; !reflect.DeepEqual(got, want) {
				t.Errorf("%d slices, %g s: restored %+v, want %+v", test.limit.Slices, at, got, want)
			}
		}
	}
}
