package limits

import (
	"testing"
	"time"
)

// After a jump back, the last message of some users is less than a minute in the future. These
// users have the same allowance as right after that message, and regain the rest as time passes.
func TestTable_Rewind(t *testing.T) {
	const second = nanosPerSecond
	table := newTable(t, bucket(3, 4*time.Second))
	judge := func(at int64) bool {
		var d Decision
		table.Judge("anna", &Request{At: at, Cost: 1}, &d)
		return d.Allowed
	}
	for _, at := range []int64{1000 * second, 1001 * second} {
		if !judge(at) {
			t.Fatalf("throttled at %d s", at/second)
		}
	}
	const back = 941 * second // 60 s before the last one
	table.Rewind(back)
	table.Rewind(back + 100*second) // no row is later than that
	for _, step := range []struct {
		at   int64
		want bool
	}{
		{back, true}, {back, false}, {back + 3*second - 1, false}, {back + 3*second, true}, {back + 11*second, true}, {back + 11*second, true},
	} {
		if got := judge(step.at); got != step.want {
			t.Errorf("%d ns after the jump: allowed %v, want %v", step.at-back, got, step.want)
		}
	}
}
