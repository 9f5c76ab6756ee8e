package web

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

// recordedMessages is the number of messages in the benchmarks' database, over 40 hours.
const recordedMessages = 1_000_000

// newEveningDashboard returns a dashboard with many messages in its database, from about 37,000
// users, some of whom write much more than others.
func newEveningDashboard(b *testing.B) *dashboard {
	d := dash(b)
	const length, users = 40 * time.Hour, 50_000
	at := d.now().Add(-length)
	for i := range recordedMessages {
		at = at.Add(length / recordedMessages)
		n := i * 7919 % users
		user := chatguard.User{ID: fmt.Sprint(100_000_000 + n*n/users), Login: fmt.Sprint("chatter", n*n/users)}
		m := chatguard.Message{ChannelID: channelID, User: user, SentAt: at}
		d.store.Observe(m, chatguard.Verdict{At: at, ChannelID: channelID, UserID: user.ID, Allowed: true})
		if i%40_000 == 0 {
			d.flush() // before too many are pending
		}
	}
	d.flush()
	d.waitForRollUp()
	return d
}

// waitForRollUp waits until the store has rolled up nearly all of the timeline. In a real evening,
// the store does that while users write; here, the evening was recorded in seconds.
func (d *dashboard) waitForRollUp() {
	d.Helper()
	db, err := sql.Open("sqlite", d.database)
	if err != nil {
		d.Fatal(err)
	}
	defer db.Close()
	const count = `SELECT count(*) FROM timeline LEFT JOIN rolled_up USING (channel_id)
		WHERE timeline.at > ifnull(rolled_up.at, 0)`
	look := time.NewTicker(time.Second)
	defer look.Stop()
	for left := recordedMessages; left > recordedMessages/100; <-look.C {
		for range 10 {
			d.flush() // after each flush, the store rolls up a part
		}
		if err := db.QueryRow(count).Scan(&left); err != nil {
			d.Fatal(err)
		}
	}
}

// preview computes a preview as the handler does.
func (d *dashboard) preview(ctx context.Context, burst int) (*previewed, error) {
	candidate := d.guard.ChannelPolicy(channelID)
	candidate.Limits[0].Burst = burst
	return d.server.previews.computePreview(ctx, channelID, candidate, mostHours)
}

func (d *dashboard) mustPreview(burst int) {
	d.Helper()
	p, err := d.preview(context.Background(), burst)
	if err != nil {
		d.Fatal(err)
	}
	if p.Messages != recordedMessages || p.InForce.ThrottledMessages == p.Candidate.ThrottledMessages {
		d.Fatalf("%d messages; throttled: %+v, then %+v", p.Messages, p.InForce, p.Candidate)
	}
}

// forgetRead makes the next preview read everything again.
func (d *dashboard) forgetRead() { d.server.previews.cache.forget(d.now().Add(lookbackKept)) }

// BenchmarkPreview previews a policy over 1,000,000 messages in a database. A cold preview reads
// the messages and judges them by both policies. A warm one judges them only by the new candidate.
// The benchmark also reports the longest time until a cancelled preview has ended.
func BenchmarkPreview(b *testing.B) {
	d := newEveningDashboard(b)
	var cold, warm, cancelled time.Duration
	var kept int
	for b.Loop() {
		d.forgetRead()
		began := time.Now()
		d.mustPreview(2)
		cold += time.Since(began)
		began = time.Now()
		d.mustPreview(1)
		warm += time.Since(began)
		kept = d.server.previews.cache.kept[channelID].timeline.Bytes()
		for _, after := range []time.Duration{10, 50, 100, 200, 400, 800} {
			d.forgetRead()
			cancelled = max(cancelled, d.cancelPreview(after*time.Millisecond))
		}
	}
	b.ReportMetric(cold.Seconds()/float64(b.N), "s/cold")
	b.ReportMetric(warm.Seconds()/float64(b.N), "s/warm")
	b.ReportMetric(float64(cancelled.Microseconds())/1000, "ms-to-cancel")
	b.ReportMetric(float64(kept)/1e6, "MB-kept")
}

// cancelPreview cancels a preview after the given time and returns how long it still ran.
func (d *dashboard) cancelPreview(after time.Duration) time.Duration {
	d.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancelledAt := make(chan time.Time, 1)
	time.AfterFunc(after, func() {
		cancelledAt <- time.Now()
		cancel()
	})
	_, err := d.preview(ctx, 3)
	ended := time.Now()
	if err != nil && !errors.Is(err, context.Canceled) {
		d.Fatal(err)
	}
	if at := <-cancelledAt; err != nil {
		return ended.Sub(at)
	}
	return 0 // it finished first
}

// BenchmarkDecisionWhilePreviewing decides on a message each millisecond, first while nothing else
// runs and then during back-to-back previews. It reports how late the decisions were, as the median
// and the 99th percentile, and how long they took.
func BenchmarkDecisionWhilePreviewing(b *testing.B) {
	d := newEveningDashboard(b)
	const decisions = 3000
	var resting, previewing delays
	for b.Loop() {
		resting.add(d, decisions)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() {
			defer close(done)
			for ctx.Err() == nil {
				d.forgetRead()
				d.preview(ctx, 2) // until it is cancelled
			}
		}()
		previewing.add(d, decisions)
		cancel()
		<-done
	}
	resting.report(b, "resting")
	previewing.report(b, "previewing")
}

// delays holds how late the decisions were and how long they took.
type delays struct{ late, took []time.Duration }

func (l *delays) add(d *dashboard, n int) {
	d.Helper()
	next := time.Now()
	for i := range n {
		next = next.Add(time.Millisecond)
		<-time.After(time.Until(next))
		m := chatguard.Message{ChannelID: channelID, User: chatguard.User{ID: fmt.Sprint(i)}, SentAt: next}
		began := time.Now()
		if _, err := d.guard.Check(context.Background(), m); err != nil {
			d.Fatal(err)
		}
		l.took = append(l.took, time.Since(began))
		l.late = append(l.late, time.Since(next))
	}
}

func (l *delays) report(b *testing.B, when string) {
	for name, times := range map[string][]time.Duration{"late": l.late, "took": l.took} {
		slices.Sort(times)
		for _, percent := range []int{50, 99} {
			at := times[(len(times)-1)*percent/100]
			b.ReportMetric(float64(at.Nanoseconds())/1000, fmt.Sprintf("µs-%s-p%d-%s", name, percent, when))
		}
	}
}
