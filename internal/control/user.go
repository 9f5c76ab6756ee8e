package control

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// amended tells of what holds now of a user, and notes it in the audit.
func (c *Controls) amended(ctx context.Context, t journal.Target, action journal.AuditAction, detail any) (saved bool, err error) {
	c.options.Amended(t.ChannelID, t.UserID)
	return c.record(ctx, journal.Audit{Author: t.Author, Action: action, ChannelID: t.ChannelID, UserID: t.UserID, Detail: detail})
}

// Grant gives a user n extra messages in a limit; an empty limit means the first that counts by days, or else the first of all that aren't for everyone
// together. It returns until when they can be used.
func (c *Controls) Grant(ctx context.Context, t journal.Target, limit string, n int) (until time.Time, saved bool, err error) {
	l, err := toGrant(c.options.Guard.InForce(t.ChannelID).Limits, limit)
	if err != nil {
		return until, false, err
	}
	table := t.ChannelID
	if l.Per == chatguard.PerUserEverywhere {
		table = ""
	}
	if until, err = c.options.Guard.Grant(table, t.UserID, l.Name, n, c.options.Now()); err != nil {
		return until, false, err
	}
	saved, err = c.amended(ctx, t, journal.UserGranted, map[string]any{"limit": l.Name, "messages": n, "until": until.UTC()})
	return until, saved, err
}

// toGrant returns the limit in which a user is given messages.
func toGrant(limits []chatguard.Limit, name string) (chatguard.Limit, error) {
	own := slices.DeleteFunc(slices.Clone(limits), func(l chatguard.Limit) bool { return l.Per == chatguard.PerChannel })
	wanted := func(l chatguard.Limit) bool { return l.Name == name }
	if name == "" {
		wanted = func(l chatguard.Limit) bool { return l.Algorithm == chatguard.DailyWindow }
	}
	switch i := slices.IndexFunc(own, wanted); {
	case i >= 0:
		return own[i], nil
	case name == "" && len(own) > 0:
		return own[0], nil
	case len(own) < len(limits) && slices.ContainsFunc(limits, wanted):
		return chatguard.Limit{}, fmt.Errorf("the limit %q is for everyone together: nobody has messages of their own there", name)
	}
	return chatguard.Limit{}, fmt.Errorf("%w: %q", chatguard.ErrNoLimit, name)
}

// Reset makes a user like one never seen in the channel.
func (c *Controls) Reset(ctx context.Context, t journal.Target) (saved bool, err error) {
	if err := c.options.Guard.Reset(t.ChannelID, t.UserID, c.options.Now()); err != nil {
		return false, err
	}
	c.pardons.forget(t) // undoing it would bring back what was reset
	return c.amended(ctx, t, journal.UserReset, nil)
}

// Exempt lets a user write without limits for a while; 0 means for good. What else the user has of their own stays, and an exemption that lasts longer,
// too. A user who is to be judged whatever their roles isn't exempted.
func (c *Controls) Exempt(ctx context.Context, t journal.Target, length time.Duration) (saved bool, err error) {
	now := c.options.Now()
	own, err := c.options.Guard.UserOverride(t.ChannelID, t.UserID)
	if err != nil {
		return false, err
	}
	until := time.Time{}
	if length > 0 {
		until = now.Add(length)
	}
	switch {
	case own.Exempt == chatguard.NeverExempt:
		return false, errors.New("the user is never exempt: that was set for them by name")
	case own.Exempt == chatguard.AlwaysExempt && (own.ExemptUntil.IsZero() || !until.IsZero() && own.ExemptUntil.After(until)):
		return c.options.Store.Commit(ctx), nil // it may wait still
	}
	own.Exempt, own.ExemptUntil = chatguard.AlwaysExempt, until
	if err := c.options.Guard.SetUserOverride(t.ChannelID, t.UserID, own, now); err != nil {
		return false, err
	}
	return c.amended(ctx, t, journal.UserExempted, exemption(until))
}

// exemption is what the audit says of an exemption; nothing where it is for good.
func exemption(until time.Time) any {
	if until.IsZero() {
		return nil
	}
	return map[string]any{"until": until.UTC()}
}

// SetOverride gives a user numbers, a zone or an exemption of their own, in place of those that they had; the zero override takes them away. What they
// have already is no change.
func (c *Controls) SetOverride(ctx context.Context, t journal.Target, own chatguard.UserOverride) (saved bool, err error) {
	before, err := c.options.Guard.UserOverride(t.ChannelID, t.UserID)
	if err != nil {
		return false, err
	}
	if sameOverride(before, own) {
		return c.options.Store.Commit(ctx), nil
	}
	if err := c.options.Guard.SetUserOverride(t.ChannelID, t.UserID, own, c.options.Now()); err != nil {
		return false, err
	}
	return c.amended(ctx, t, journal.UserOverridden, map[string]chatguard.UserOverride{"from": before, "to": own})
}

func sameOverride(a, b chatguard.UserOverride) bool {
	return a.Exempt == b.Exempt && a.ExemptUntil.Equal(b.ExemptUntil) && a.Timezone == b.Timezone && maps.Equal(a.Limits, b.Limits)
}
