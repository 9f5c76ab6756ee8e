package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// Target is the user that a change is about, and who makes it.
type Target struct {
	ChannelID string
	UserID    string
	Author    string
}

func (t Target) audit(action journal.AuditAction, detail any) journal.Audit {
	return journal.Audit{Author: t.Author, Action: action, ChannelID: t.ChannelID, UserID: t.UserID, Detail: detail}
}

// Grant gives a user n extra messages in a limit; an empty limit means the first that counts by days, or else the first of all. It returns until
// when they can be used.
func (c *Controls) Grant(ctx context.Context, t Target, limit string, n int) (until time.Time, saved bool, err error) {
	now := c.options.Now()
	until, err = c.options.Guard.Grant(t.ChannelID, t.UserID, limit, n, now)
	if errors.Is(err, chatguard.ErrNoLimit) && limit == "" {
		if limits := c.options.Guard.Policy(t.ChannelID).Limits; len(limits) > 0 {
			until, err = c.options.Guard.Grant(t.ChannelID, t.UserID, limits[0].Name, n, now)
		}
	}
	if err != nil {
		return until, false, err
	}
	saved, err = c.record(ctx, t.audit(journal.UserGranted, map[string]any{"limit": limit, "messages": n, "until": until}))
	return until, saved, err
}

// Reset makes a user like one never seen in the channel.
func (c *Controls) Reset(ctx context.Context, t Target) (saved bool, err error) {
	if err := c.options.Guard.Reset(t.ChannelID, t.UserID, c.options.Now()); err != nil {
		return false, err
	}
	return c.record(ctx, t.audit(journal.UserReset, nil))
}

// Exempt lets a user write without limits for a while; 0 means for good. What else the user has of their own stays.
func (c *Controls) Exempt(ctx context.Context, t Target, length time.Duration) (saved bool, err error) {
	now := c.options.Now()
	own, err := c.options.Guard.UserOverride(t.ChannelID, t.UserID)
	if err != nil {
		return false, err
	}
	own.Exempt, own.ExemptUntil = chatguard.AlwaysExempt, time.Time{}
	if length > 0 {
		own.ExemptUntil = now.Add(length)
	}
	if err := c.options.Guard.SetUserOverride(t.ChannelID, t.UserID, own, now); err != nil {
		return false, err
	}
	return c.record(ctx, t.audit(journal.UserExempted, map[string]any{"until": own.ExemptUntil}))
}

// PardonLast pardons the newest throttled message of a user.
func (c *Controls) PardonLast(ctx context.Context, t Target) (saved bool, err error) {
	entry, ok, err := c.options.Store.LastEntry(ctx, t.ChannelID, t.UserID)
	switch {
	case err != nil:
		return false, c.trouble(err)
	case !ok:
		return false, ErrNoEntry
	}
	return c.pardon(ctx, entry, t.Author)
}

// Pardon forgives a throttled message: its penalty is lifted, or never carried out where it waits still; what it spent is refunded, and its strike is
// taken back. Doing it twice is doing it once.
func (c *Controls) Pardon(ctx context.Context, id chatguard.EntryID, author string) (saved bool, err error) {
	entry, ok, err := c.options.Store.Entry(ctx, id)
	switch {
	case err != nil:
		return false, c.trouble(err)
	case !ok:
		return false, ErrNoEntry
	}
	return c.pardon(ctx, entry, author)
}

func (c *Controls) pardon(ctx context.Context, e journal.Entry, author string) (saved bool, err error) {
	done, err := c.options.Guard.Pardon(e.Verdict(), c.options.Now())
	if err != nil {
		return false, err
	}
	waited := c.options.Forgive != nil && c.options.Forgive(e.ChannelID, e.UserID, e.ID)
	var lifting error
	if !waited && c.options.Lift != nil && silences(e.Outcome) {
		lifting = c.options.Lift(ctx, e.ChannelID, e.UserID)
	}
	if done {
		t := Target{ChannelID: e.ChannelID, UserID: e.UserID, Author: author}
		saved, err = c.record(ctx, t.audit(journal.UserPardoned, map[string]any{"entry": e.ID}))
	} else {
		saved = true // and was noted then
	}
	if lifting != nil {
		return saved, errors.Join(fmt.Errorf("the strike is taken back, but the %s isn't lifted: %w", e.Outcome.Action, lifting), err)
	}
	return saved, err
}

// silences reports whether what was done keeps the user from writing, or may: what was stopped in its midst isn't known.
func silences(o journal.Outcome) bool {
	return (o.Action == chatguard.Timeout || o.Action == chatguard.Ban) && o.Result != journal.Skipped && o.Result != journal.Observed
}
