//go:build unix

package web

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/web/live"
)

// processorTime returns the CPU time that this process has used so far.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkOpenDashboards measures the cost of 1,000 verdicts per second, in percent of one core:
// first without an open dashboard, then with 100 of them. Another process reads their live feeds.
// The benchmark also measures how much longer a Check takes with open dashboards. All verdicts are
// throttled except 3 per user.
func BenchmarkOpenDashboards(b *testing.B) {
	for range b.N {
		d := dash(b)
		cookies := d.signInModerators(openDashboards)
		measure := func() (took []time.Duration, share float64) {
			used, began := processorTime(b), time.Now()
			took = d.runChat()
			return took, 100 * (processorTime(b) - used).Seconds() / time.Since(began).Seconds()
		}
		measure() // everyone uses up their allowance
		alone, before := measure()
		closeAll := d.openFeeds(cookies)
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

// signInModerators signs moderators in, with as many dashboards each as one name may open. It
// returns the cookie for each of n dashboards.
func (d *dashboard) signInModerators(n int) (cookies []string) {
	d.Helper()
	for len(cookies) < n {
		who := auth.Identity{Name: fmt.Sprint("moderator", len(cookies)), Access: auth.Moderate}
		secret, err := d.store.NewToken(context.Background(), who, 0)
		if err != nil {
			d.Fatal(err)
		}
		cookie := d.signIn(map[string]string{"token": secret}).String()
		cookies = append(cookies, slices.Repeat([]string{cookie}, min(live.MaxFeedsOfOne, n-len(cookies)))...)
	}
	return cookies
}

// viewerRounds is how often decisions are measured without viewers, and with them.
const viewerRounds = 4

// BenchmarkViewers measures decisions while 10,000 signed-in viewers send 2,000 requests per second
// about themselves, in turns with decisions without viewers. Another process, which stands for a
// proxy, sends the requests.
func BenchmarkViewers(b *testing.B) {
	for range b.N {
		d := dash(b, showViewers, behindProxy)
		look, stop := d.openViewers(benchViewers)
		d.runChat() // everyone uses up their allowance
		look()      // and is remembered
		var alone, watched []time.Duration
		var busy time.Duration
		for range viewerRounds {
			alone = append(alone, d.runChat()...)
			used := processorTime(b)
			done := make(chan int)
			go func() { done <- look() }()
			watched = append(watched, d.runChat()...)
			if n := <-done; n != int(benchLasts.Seconds()*viewerRate) {
				b.Errorf("%d answers", n)
			}
			busy += processorTime(b) - used
		}
		stop()
		slices.Sort(alone)
		slices.Sort(watched)
		b.ReportMetric(100*busy.Seconds()/(viewerRounds*benchLasts).Seconds(), "%core")
		for name, share := range map[string]int{"p50": 50, "p99": 99} {
			at := len(alone) * share / 100
			b.ReportMetric(float64(alone[at].Nanoseconds()), name+"-alone-ns")
			b.ReportMetric(float64(watched[at])/float64(alone[at]), name+"-times")
		}
	}
	b.ReportMetric(0, "ns/op") // meaningless here
}
