package control

import (
	"context"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/language"
	"github.com/chatguard/chatguard/limitinfo"
)

// quota describes what a user has left of each limit.
func (c *Commands) quota(ctx context.Context, m chatguard.Message) string {
	now := c.records.now()
	m.SentAt, m.Cost, m.Kinds = now, 1, nil // as the next ordinary message
	e, err := limitinfo.Explain(ctx, c.guard, m)
	if err != nil {
		return "" // a user who cannot be judged has no quota
	}
	texts, name := c.texts(m.ChannelID), "@"+m.User.Name()
	if e.Verdict.Exempt {
		return texts.Text("quota-exempt", language.Values{"user": name})
	}
	var parts []string
	for _, l := range e.Limits {
		if inner.IsShared(l.Per) {
			continue // a shared limit is not the user's
		}
		text, values := "quota-limit", language.Values{"limit": texts.LimitTitle(l.Name, inner.Of(c.guard).Title(m.ChannelID, l.Name)), "left": l.Remaining, "capacity": l.Capacity + l.Granted}
		switch {
		case l.Remaining == 0 && l.NextAt.After(now):
			text, values["wait"] = "quota-limit-next", texts.Wait(l.NextAt.Sub(now))
		case l.Algorithm == chatguard.DailyWindow && l.Used > 0:
			text, values["wait"] = "quota-limit-reset", texts.Wait(l.ResetAt.Sub(now))
		}
		parts = append(parts, texts.Text(text, values))
	}
	if len(parts) == 0 {
		return texts.Text("quota-shared", language.Values{"user": name})
	}
	return texts.Text("quota", language.Values{"user": name, "limits": texts.List(parts)})
}
