package chat

import (
	"sync/atomic"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/penalties"
)

// Counts counts what a Bot has done since it started.
type Counts struct {
	Messages  int64 // judged or exempt
	Exempt    int64 // not judged because of a role
	Throttled int64 // by an enforced limit
	Observed  int64 // would be throttled if the limit were enforced
	Deleted   int64 // messages removed, including by warnings
	Punished  int64 // warnings, timeouts and bans
	Failed    int64 // penalties that were tried and failed, or may have failed
	Skipped   int64 // penalties not tried
}

type counts struct {
	messages, exempt, throttled, observed, deleted, punished, failed, skipped atomic.Int64
}

// countVerdict counts a message by its verdict.
func (c *counts) countVerdict(v chatguard.Verdict) {
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

// countOutcome counts the result of an action.
func (c *counts) countOutcome(action chatguard.Action, result journal.Result) {
	switch result {
	case journal.Failed, journal.Unknown:
		c.failed.Add(1)
	case journal.Skipped:
		c.skipped.Add(1)
	case journal.Done:
		if action == chatguard.ActionDelete || action == penalties.Warn {
			c.deleted.Add(1)
		}
		if action == penalties.Warn || penalties.Silences(action) {
			c.punished.Add(1)
		}
	}
}

// read returns the counts so far.
func (c *counts) read() Counts {
	return Counts{
		Messages: c.messages.Load(), Exempt: c.exempt.Load(), Throttled: c.throttled.Load(), Observed: c.observed.Load(),
		Deleted: c.deleted.Load(), Punished: c.punished.Load(), Failed: c.failed.Load(), Skipped: c.skipped.Load(),
	}
}
