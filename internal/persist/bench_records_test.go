package persist

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
)

// newRecordedStore returns a store with that many messages by 5,000 users of one channel within a
// day. Every fifth message was throttled, and all are rolled up.
func newRecordedStore(b *testing.B, messages int) *Store {
	b.Helper()
	now := start
	s, g := openWithGuard(b, &Options{QueueSize: 2 * messages, Now: func() time.Time { return now }})
	for i := range messages {
		id := 0
		if i%5 == 0 {
			id = i + 1
		}
		s.observeMessage("1", userID(i%5000), fmt.Sprint("login", i%5000), start.Add(time.Duration(i)*24*time.Hour/time.Duration(messages)), id)
	}
	s.mustFlush(b, g)
	now = start.Add(24*time.Hour + 2*rollAge)
	began := time.Now()
	for more := true; more; {
		var err error
		more, err = s.sweeper.rollUp(ctx, now)
		must(b, err)
	}
	b.Logf("rolled up %.0f messages/s", float64(messages)/time.Since(began).Seconds())
	return s
}

// BenchmarkRecords reads 200,000 messages and 40,000 entries.
func BenchmarkRecords(b *testing.B) {
	s := newRecordedStore(b, 200_000)
	b.Run("timeline", func(b *testing.B) {
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			must(b, s.Timeline(ctx, "1", start, func(batch []journal.TimelineMessage) error {
				n += len(batch)
				return nil
			}))
		}
		b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "rows/s")
	})
	for name, read := range map[string]func(ctx context.Context) error{
		"minutes": func(ctx context.Context) error {
			return s.Minutes(ctx, start, start.Add(48*time.Hour), func(journal.Minute) error { return nil })
		},
		"quarters":             func(ctx context.Context) error { return errorOf(s.QuarterHours(ctx, "1", userID(7), start)) },
		"quarters-of-everyone": func(ctx context.Context) error { return errorOf(s.QuarterHours(ctx, "1", "", start)) },
		"last-seen":            func(ctx context.Context) error { return errorOf(s.FindPeople(ctx, "1", "", 20)) },
		"begins":               func(ctx context.Context) error { return errorOf(s.FindPeople(ctx, "1", "login12", 20)) },
		"nobody":               func(ctx context.Context) error { return errorOf(s.FindPeople(ctx, "1", "nobody", 20)) },
		"entries": func(ctx context.Context) error {
			return errorOf(s.Entries(ctx, journal.EntryFilter{ChannelID: "1", N: 100}))
		},
		"by-user": func(ctx context.Context) error {
			return errorOf(s.Entries(ctx, journal.EntryFilter{ChannelID: "1", User: userID(10), N: 100}))
		},
		"by-login": func(ctx context.Context) error {
			return errorOf(s.Entries(ctx, journal.EntryFilter{User: "nobody", N: 100}))
		},
		"failed": func(ctx context.Context) error {
			return errorOf(s.Entries(ctx, journal.EntryFilter{Result: journal.Failed, N: 100}))
		},
		"no-limit": func(ctx context.Context) error {
			return errorOf(s.Entries(ctx, journal.EntryFilter{ChannelID: "1", Limit: "none", N: 100}))
		},
		"an-hour": func(ctx context.Context) error {
			return errorOf(s.Entries(ctx, journal.EntryFilter{From: start.Add(time.Hour), Until: start.Add(2 * time.Hour), N: 100}))
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				must(b, read(ctx))
			}
		})
	}
}

func errorOf[T any](_ T, err error) error { return err }

// BenchmarkFlushJournal writes 10,000 entries, and then their outcomes.
func BenchmarkFlushJournal(b *testing.B) {
	s := open(b, databasePath(b), nil)
	g := guardOf(b, s, dailyPolicy())
	const entries = 10_000
	var took, told time.Duration
	for i := 0; b.Loop(); i++ {
		for n := range entries {
			s.observeMessage("1", userID(n%5000), "anna", start.Add(time.Duration(i)*time.Second+time.Duration(n)), i*entries+n+1)
		}
		took += measureTime(func() { s.mustFlush(b, g) })
		for n := range entries {
			s.Report(outcome(i*entries+n+1, journal.Done, ""))
		}
		told += measureTime(func() { s.mustFlush(b, g) })
	}
	b.ReportMetric(entries*float64(b.N)/took.Seconds(), "entries/s")
	b.ReportMetric(entries*float64(b.N)/told.Seconds(), "outcomes/s")
}

// BenchmarkObserveWhileReading queues messages while 100,000 records are pending and a reader goes
// through all of them again and again. It reports the longest time that queuing a message took, and
// the 99.9th percentile.
func BenchmarkObserveWhileReading(b *testing.B) {
	s := open(b, databasePath(b), &Options{QueueSize: 100_000})
	for i := range 70_000 {
		s.observeMessage("1", userID(i%5000), fmt.Sprint("login", i%5000), start.Add(time.Duration(i)), max(0, i-40_000))
	}
	reading, stop := context.WithCancel(ctx)
	read := make(chan int)
	go func() {
		n := 0
		for ; reading.Err() == nil; n++ {
			_, _ = s.FindPeople(reading, "1", "", 20)
			_, _ = s.Entries(reading, journal.EntryFilter{N: 100})
		}
		read <- n
	}()
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		s.observeMessage("1", userID(7), "anna", start, 0)
		took = append(took, time.Since(began))
	}
	stop()
	b.ReportMetric(float64(<-read), "reads")
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*999/1000].Nanoseconds())/1000, "p99.9-µs")
	b.ReportMetric(float64(took[len(took)-1].Microseconds()), "longest-µs")
}
