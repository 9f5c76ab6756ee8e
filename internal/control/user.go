package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// Exempt lets a user write without limits for a while; 0 means for good. What else the user has of their own stays, and an exemption that lasts longer,
// too. A user who is to be judged whatever their roles isn't exempted.
func (c *Controls) Exempt(ctx context.Context, t Target, length time.Duration) (saved bool, err error) {
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
		return true, nil
	}
	own.Exempt, own.ExemptUntil = chatguard.AlwaysExempt, until
	if err := c.options.Guard.SetUserOverride(t.ChannelID, t.UserID, own, now); err != nil {
		return false, err
	}
	return c.record(ctx, t.audit(journal.UserExempted, map[string]any{"until": own.ExemptUntil}))
}

// lookedBack is how many of a user's entries a pardon of the last one looks at for a penalty that silences them still.
const lookedBack = 20

// PardonLast pardons the newest throttled message of a user, and lifts what silences them, whichever message that was for.
func (c *Controls) PardonLast(ctx context.Context, t Target) (saved bool, err error) {
	entries, err := c.options.Store.LastEntries(ctx, t.ChannelID, t.UserID, lookedBack)
	switch {
	case err != nil:
		return false, c.trouble(err)
	case len(entries) == 0:
		return false, ErrNoEntry
	}
	return c.pardon(ctx, entries[0], slices.ContainsFunc(entries, c.silences), t.Author)
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
	return c.pardon(ctx, entry, c.silences(entry), author)
}

func (c *Controls) pardon(ctx context.Context, e journal.Entry, lift bool, author string) (saved bool, err error) {
	done, err := c.options.Guard.Pardon(e.Verdict(), c.options.Now())
	if err != nil {
		return false, err
	}
	waited := c.options.Forgive != nil && c.options.Forgive(e.ChannelID, e.UserID, e.ID)
	var lifting error
	if !waited && lift && c.options.Lift != nil {
		lifting = c.options.Lift(ctx, e.ChannelID, e.UserID)
	}
	saved = true // and was noted then, where it was done before
	if done {
		t := Target{ChannelID: e.ChannelID, UserID: e.UserID, Author: author}
		saved, err = c.record(ctx, t.audit(journal.UserPardoned, map[string]any{"entry": e.ID}))
	}
	if lifting != nil {
		return saved, errors.Join(fmt.Errorf("the strike is taken back, but the user is silenced still: %w", lifting), err)
	}
	return saved, err
}

// silences reports whether what was done about a message may keep its author from writing still. How a request went that was stopped in its midst
// isn't known.
func (c *Controls) silences(e journal.Entry) bool {
	o := e.Outcome
	if o.Result == journal.Skipped || o.Result == journal.Observed {
		return false
	}
	length := e.Penalty.Duration
	if e.Penalty.Action != chatguard.Timeout {
		length = journal.MostMerged // one timeout for several messages
	}
	return o.Action == chatguard.Ban || o.Action == chatguard.Timeout && o.At.Add(length).After(c.options.Now())
}
