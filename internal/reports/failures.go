package reports

import (
	"cmp"
	"time"

	"github.com/chatguard/chatguard/internal/webhook"
)

const (
	// failsFor is how long something fails before that is reported, and worksFor how long it works
	// before its failure counts as over. A connection that comes and goes is thus one failure.
	failsFor = 30 * time.Second
	worksFor = 2 * time.Minute
	// failureGap is the minimum time between two reports that the same thing fails.
	failureGap = 10 * time.Minute
)

// failures has what fails now, and what failed recently, by name.
type failures map[string]*failure

// failure is what is known of something that fails, or did so recently.
type failure struct {
	webhook.FailureChange
	isFailing   bool
	worksSince  time.Time
	isReported  bool      // the beginning was reported, and the end wasn't
	reportedAt  time.Time // of the last beginning
	currentFrom time.Time // since when it fails without a break
}

// Trouble is something that fails now.
type Trouble struct{ Name, State, Detail string }

// step updates f with what fails now, and returns what to report.
func (f failures) step(now time.Time, current []Trouble) (changes []webhook.FailureChange) {
	failing := map[string]bool{}
	for _, t := range current {
		failing[t.Name] = true
		known := cmp.Or(f[t.Name], &failure{})
		f[t.Name] = known
		if report := known.fail(now, t); report {
			changes = append(changes, known.FailureChange)
		}
	}
	for name, known := range f {
		if failing[name] {
			continue
		}
		if over := known.work(now); over {
			changes = append(changes, known.FailureChange)
		}
		if !known.isReported && now.Sub(known.reportedAt) > failureGap {
			delete(f, name)
		}
	}
	return changes
}

// fail notes that the thing fails, and reports whether a webhook must be told.
func (f *failure) fail(now time.Time, t Trouble) bool {
	if !f.isFailing {
		f.isFailing, f.currentFrom = true, now
	}
	f.Name, f.State, f.Detail, f.Over, f.Until = t.Name, t.State, t.Detail, false, time.Time{}
	if f.isReported || now.Sub(f.currentFrom) < failsFor || !f.reportedAt.IsZero() && now.Sub(f.reportedAt) < failureGap {
		return false
	}
	f.isReported, f.reportedAt, f.Since = true, now, f.currentFrom
	return true
}

// work notes that the thing works, and reports whether a webhook must be told that the failure is
// over.
func (f *failure) work(now time.Time) bool {
	if f.isFailing || f.worksSince.IsZero() {
		f.isFailing, f.worksSince = false, now
	}
	if !f.isReported || now.Sub(f.worksSince) < worksFor {
		return false
	}
	f.isReported, f.Over, f.Until = false, true, f.worksSince
	return true
}

// reportFailures reports what has failed long enough, and what works again.
func (r *Reporter) reportFailures(now time.Time) {
	for _, change := range r.failures.step(now, r.options.Troubles()) {
		change.Since, change.Until = change.Since.UTC(), change.Until.UTC()
		r.send("", webhook.Event{Kind: webhook.Failure, At: now, Failure: &change})
	}
}
