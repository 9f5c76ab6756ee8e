package chat

import (
	"sync/atomic"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// Counts is what a Bot has done since it started.
type Counts struct {
	Messages  int64 // judged or exempt
	Exempt    int64 // not judged, because of a role
	Throttled int64 // by an enforced policy
	Observed  int64 // would have been throttled
	Deleted   int64 // messages removed, by a warning too
	Punished  int64 // warnings, timeouts and bans
	Failed    int64 // penalties that were tried in vain
	Skipped   int64 // penalties that weren't tried
}

type counts struct {
	messages, exempt, throttled, observed, deleted, punished, failed, skipped atomic.Int64
}

func (c *counts) judged(v chatguard.Verdict) {
	c.messages.Add(1)
	switch {
	case v.Exempt:
		c.exempt.Add(1)
	case v.Observed:
		c.observed.Add(1)
	case !v.Allowed:
		c.throttled.Add(1)
	}
}

func (c *counts) acted(action chatguard.Action, result journal.Result) {
	switch result {
	case journal.Failed:
		c.failed.Add(1)
	case journal.Skipped:
		c.skipped.Add(1)
	case journal.Done:
		if action == chatguard.Delete || action == chatguard.Warn {
			c.deleted.Add(1)
		}
		if action == chatguard.Warn || action == chatguard.Timeout || action == chatguard.Ban {
			c.punished.Add(1)
		}
	}
}

// Counts returns what the Bot has done so far.
func (b *Bot) Counts() Counts {
	c := &b.counts
	return Counts{
		Messages: c.messages.Load(), Exempt: c.exempt.Load(), Throttled: c.throttled.Load(), Observed: c.observed.Load(),
		Deleted: c.deleted.Load(), Punished: c.punished.Load(), Failed: c.failed.Load(), Skipped: c.skipped.Load(),
	}
}
