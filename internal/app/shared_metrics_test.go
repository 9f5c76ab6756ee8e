package app

import (
	"strings"
	"testing"

	"github.com/chatguard/chatguard/redisstore"
)

func TestWriteHistogram(t *testing.T) {
	var b strings.Builder
	writeHistogram(&b, "x_seconds", redisstore.Histogram{Bounds: []float64{0.00025, 1}, Counts: []int64{3, 0, 2}, Sum: 7.5})
	want := `x_seconds_bucket{le="0.00025"} 3
x_seconds_bucket{le="1"} 3
x_seconds_bucket{le="+Inf"} 5
x_seconds_sum 7.5
x_seconds_count 5
`
	if got := b.String(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
