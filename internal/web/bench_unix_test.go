//go:build unix

package web

import (
	"syscall"
	"testing"
	"time"
)

// processorTime returns the CPU time that this process has used so far.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkOpenDashboards measures the cost of 1,000 verdicts per second, in percent of one core,
// without a dashboard and with 100 open ones, which another process reads. It also measures how
// much longer a Check takes then. All verdicts are throttled except 3 per user.
func BenchmarkOpenDashboards(b *testing.B) {
	for range b.N {
		d := dash(b)
		cookie := d.signedIn(map[string]string{"token": token}).String()
		measure := func() (took []time.Duration, share float64) {
			used, began := processorTime(b), time.Now()
			took = d.busyChat()
			return took, 100 * (processorTime(b) - used).Seconds() / time.Since(began).Seconds()
		}
		measure() // everyone uses up their allowance
		alone, before := measure()
		closeAll := d.openFeeds(cookie)
		watched, with := measure()
		if n := d.server.Feeds(); n != openDashboards {
			b.Errorf("%d dashboards are open at the end", n)
		}
		closeAll()
		b.ReportMetric(before, "%core-alone")
		b.ReportMetric(with, "%core")
		for name, share := range map[string]int{"p50": 50, "p99": 99} {
			at := len(alone) * share / 100
			b.ReportMetric(float64(watched[at].Nanoseconds()), name+"-ns/check")
			b.ReportMetric(float64(watched[at])/float64(alone[at]), name+"-times")
		}
	}
	b.ReportMetric(0, "ns/op") // meaningless here
}
