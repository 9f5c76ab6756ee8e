package control

import (
	"fmt"
	"strings"

	"github.com/chatguard/chatguard"
)

// quota describes what a user has left of each limit.
func (c *Controls) quota(m chatguard.Message) string {
	now := c.now()
	m.SentAt, m.Cost = now, 1
	e, err := c.guard.Explain(m)
	if err != nil {
		return "" // a user who cannot be judged has no quota
	}
	name := "@" + m.User.Name()
	if e.Verdict.Exempt {
		return name + ": you have no limits here."
	}
	var parts []string
	for _, l := range e.Limits {
		if l.Per.Shared() {
			continue // a shared limit is not the user's
		}
		part := fmt.Sprintf("%s %d of %d", l.Name, l.Remaining, l.Capacity+l.Granted)
		switch {
		case l.Remaining == 0 && l.NextAt.After(now):
			part += ", next in " + chatguard.FormatWait(l.NextAt.Sub(now))
		case l.Algorithm == chatguard.DailyWindow && l.Used > 0:
			part += ", resets in " + chatguard.FormatWait(l.ResetAt.Sub(now))
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return name + ": the limits here are shared by everyone."
	}
	return name + ": messages left: " + strings.Join(parts, "; ") + "."
}
