package histogram

import (
	"strings"
	"testing"
	"time"
)

func TestHistogram(t *testing.T) {
	h := OfDurations(250*time.Microsecond, time.Second)
	h.Add(0, 1)
	h.Add(int64(250*time.Microsecond), 2) // a bound belongs to its bucket
	h.Add(int64(3*time.Second), 1)
	h.Add(int64(4*time.Second), 1)
	var b strings.Builder
	h.Counts().Write(&b, "x_seconds")
	want := `x_seconds_bucket{le="0.00025"} 3
x_seconds_bucket{le="1"} 3
x_seconds_bucket{le="+Inf"} 5
x_seconds_sum 7.0005
x_seconds_count 5
`
	if got := b.String(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func BenchmarkAdd(b *testing.B) {
	h := OfDurations(time.Microsecond, 10*time.Microsecond, 100*time.Microsecond, time.Millisecond, 10*time.Millisecond)
	for b.Loop() {
		h.Add(int64(50*time.Microsecond), 16)
	}
}
