package chat

import (
	"time"

	"github.com/chatguard/chatguard/internal/histogram"
)

// Durations are how long a Bot has taken since it started.
type Durations struct {
	// LineToVerdict is the time from reading messages to their verdicts. Messages that are judged
	// together count with the same duration, that of the first one.
	LineToVerdict histogram.Counts
	// VerdictToRequest is the time from a verdict until the first request of its penalty is sent.
	VerdictToRequest histogram.Counts
}

// durations measures a Bot.
type durations struct{ verdicts, requests *histogram.Histogram }

func newDurations() durations {
	const ms = time.Millisecond
	return durations{
		verdicts: histogram.OfDurations(
			10*time.Microsecond, 25*time.Microsecond, 50*time.Microsecond, 100*time.Microsecond, 150*time.Microsecond, 250*time.Microsecond, 500*time.Microsecond,
			ms, 5*ms/2, 5*ms, 10*ms, 25*ms, 100*ms, time.Second, 5*time.Second,
		),
		requests: histogram.OfDurations(
			50*time.Microsecond, 100*time.Microsecond, 250*time.Microsecond, 500*time.Microsecond,
			ms, 5*ms/2, 5*ms, 10*ms, 25*ms, 100*ms, 500*ms, time.Second, 5*time.Second, 15*time.Second,
		),
	}
}

// noteVerdicts counts n messages that were judged now.
func (d *durations) noteVerdicts(read time.Time, n int) {
	if !read.IsZero() && n > 0 {
		d.verdicts.Add(int64(time.Since(read)), int64(n))
	}
}

// noteRequest counts the messages whose penalty is about to be requested.
func (d *durations) noteRequest(jobs []job, now time.Time) {
	for i := range jobs {
		d.requests.Add(int64(now.Sub(jobs[i].since)), 1)
	}
}

// Durations returns the durations so far.
func (b *Bot) Durations() Durations {
	return Durations{LineToVerdict: b.durations.verdicts.Counts(), VerdictToRequest: b.durations.requests.Counts()}
}
