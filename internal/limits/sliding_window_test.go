package limits

import (
	"reflect"
	"testing"
	"time"
)

// After a jump back, the window before counts for as much as whole messages of it can, and never
// for more than it did.
func TestSlidingWindow_JumpBack(t *testing.T) {
	run(t, newTable(t, window("sliding-window", 5, 10*time.Second)), []step{
		{at: 608, n: 5, ok: true}, {at: 618, ok: true}, // 5 × 0.2 + 1 = 2
		// 1 is the largest previous count with 1 × 0.9 ≤ 5 × 0.2. At 301 s, 0.9 + 1 + 3 ≤ 5. At
		// 310 s, 1 × 0 + 4 + 1 = 5.
		{at: 301, n: 3, ok: true}, {at: 301, retry: 9},
	})
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
		must(t, second.Restore(rows[0], nanos(9)))
		for at := 9.0; at < 25; at += 0.25 {
			if got, want := second.level(t, at, "sliding-window").Picture, first.level(t, at, "sliding-window").Picture; !reflect.DeepEqual(got, want) {
				t.Errorf("%d slices, %g s: restored %+v, want %+v", test.limit.Slices, at, got, want)
			}
		}
	}
}
