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
	m.SentAt, m.Cost, m.Kinds, m.Text, m.Print = now, 1, nil, "", nil // as the next ordinary message, whatever it says
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
		if !inner.IsPersonal(l.Per) {
			continue
		}
		text, values := "quota-limit", language.Values{"limit": texts.LimitTitle(l.Name, inner.Of(c.guard).Limit(m.ChannelID, l.Name).Title), "left": l.Remaining, "capacity": l.Capacity + l.Granted}
		switch {
		case l.Remaining == 0 && l.NextAt.After(now):
			text, values["wait"] = "quota-limit-next", texts.Wait(l.NextAt.Sub(now))
		case l.Algorithm == chatguard.DailyWindow && l.Used > 0:
			text, values["wait"] = "quota-limit-reset", texts.Wait(l.ResetAt.Sub(now))
		}
		parts = append(parts, texts.Text(text, values))
	}
	var same []string
	limits, _ := inner.TextLimits(c.guard, m.ChannelID, m.User.Roles)
	for _, l := range limits {
		l.Name = texts.LimitTitle(l.Name, l.Title)
		same = append(same, describe(texts, l))
	}
	switch {
	case len(parts) > 0: // what is left comes first
		return texts.Text("quota", language.Values{"user": name, "limits": texts.List(append(parts, same...))})
	case len(same) > 0:
		return texts.Text("quota-same", language.Values{"user": name, "limits": texts.List(same)})
	}
	return texts.Text("quota-shared", language.Values{"user": name})
}
