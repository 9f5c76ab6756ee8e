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

const (
	// maxRun is how many messages one pardon of a user takes: a spammer may have thousands in a row.
	maxRun = 1000
	// runPage is how many of them are read at a time.
	runPage = 200
	// undoable is how long a pardon can be undone.
	undoable = 5 * time.Minute
	// maxPardons is how many pardons that can be undone are remembered.
	maxPardons = 1000
)

// PardonUser forgives all messages of the run that a user's newest throttled message belongs to: penalties that wait are dropped, a timeout or ban of
// chatguard's is lifted, strikes are taken back, and what the messages spent is refunded. Doing it twice is doing it once.
//
// A run is the messages that were held back without a pause in between, or came so soon after one another that they shared a strike.
func (c *Controls) PardonUser(ctx context.Context, t journal.Target) (done journal.Pardon, saved bool, err error) {
	run, hasOlder, err := c.run(ctx, t)
	switch {
	case err != nil:
		return done, false, c.trouble(err)
	case len(run) == 0:
		return done, false, journal.ErrNoEntry
	}
	if done, err = c.forgiveRun(t, run); err != nil {
		return done, false, err
	}
	done.HasOlder = hasOlder
	dropped := 0
	done.Silence, done.Kept, dropped = c.endPenalties(ctx, t, run)
	done.Dropped += dropped
	c.pardons.settle(t, done)
	if done.StrikesLeft, err = c.strikes(t); err != nil {
		return done, false, err
	}
	if done.Again && dropped == 0 {
		return done, c.options.Store.Commit(ctx), nil // it was noted when it was done, and may wait still
	}
	saved, err = c.amended(ctx, t, journal.UserPardoned, pardonDetail(done))
	return done, saved, err
}

// pardonDetail is what the audit says of a pardon.
func pardonDetail(p journal.Pardon) map[string]any {
	return map[string]any{
		"pardon": p.ID, "first": p.First, "last": p.Last, "messages": p.Messages, "strikes": p.Strikes, "silence": p.Silence, "dropped": p.Dropped,
	}
}

// run returns the entries of the user's last run, the newest first, and whether it has older ones, too many for one pardon.
func (c *Controls) run(ctx context.Context, t journal.Target) (run []journal.Entry, hasOlder bool, err error) {
	after, err := c.lastReset(ctx, t)
	if err != nil {
		return nil, false, err
	}
	every := c.options.Guard.InForce(t.ChannelID).Penalties.StrikeEvery
	wanted := journal.EntryFilter{ChannelID: t.ChannelID, UserID: t.UserID, N: runPage}
	for {
		page, err := c.options.Store.Entries(ctx, wanted)
		if err != nil {
			return nil, false, err
		}
		for _, e := range page {
			switch {
			case len(run) > 0 && (!isBefore(e, run[len(run)-1], every) || e.At.Before(after)):
				return run, false, nil
			case len(run) == maxRun:
				return run, true, nil
			}
			run = append(run, e)
		}
		if len(page) < wanted.N {
			return run, false, nil
		}
		wanted.Before = page[len(page)-1].ID
	}
}

// isBefore reports whether no pause lies between a message and the next one of the user that was throttled: it held them back until then, or both
// share a strike.
func isBefore(e, next journal.Entry, strikeEvery time.Duration) bool {
	return journal.HeldUntil(e.At, e.MaySpeakAt.Time).After(next.At) || next.At.Sub(e.At) < strikeEvery
}

// lastReset is when the user was last reset; the zero time if that is not known. What was throttled before brought nothing that counts.
func (c *Controls) lastReset(ctx context.Context, t journal.Target) (time.Time, error) {
	resets, err := c.options.Store.Audits(ctx, journal.AuditFilter{ChannelID: t.ChannelID, UserID: t.UserID, Action: journal.UserReset, N: 1})
	if err != nil || len(resets) == 0 {
		return time.Time{}, err
	}
	return resets[0].At, nil
}

// forgiveRun lets the Guard forgive the messages, and remembers how that is undone.
func (c *Controls) forgiveRun(t journal.Target, run []journal.Entry) (done journal.Pardon, err error) {
	newest, oldest := run[0], run[len(run)-1]
	verdicts := make([]chatguard.Verdict, len(run))
	deleted := 0
	for i := range run {
		verdicts[i] = run[i].Verdict()
		if o := run[i].Outcome; o.Result == journal.Done && o.Action >= chatguard.Delete && o.Action <= chatguard.Ban {
			deleted++
		}
	}
	return c.pardons.give(t, c.options.Now(), func(now time.Time) (journal.Pardon, chatguard.Pardoned, error) {
		taken, err := c.options.Guard.PardonAll(verdicts, now)
		return journal.Pardon{
			By: t.Author, At: now.UTC(), First: oldest.ID, Last: newest.ID, Since: oldest.At,
			Messages: taken.Messages, Deleted: deleted, Strikes: taken.Strikes,
		}, taken, err
	})
}

// endPenalties drops the penalties that wait for entries, and lifts the silence that others have brought.
func (c *Controls) endPenalties(ctx context.Context, t journal.Target, run []journal.Entry) (result journal.SilenceResult, kept string, dropped int) {
	var waited, underWay []chatguard.EntryID
	if c.options.Forgive != nil {
		waited, underWay = c.options.Forgive(t.ChannelID, t.UserID, run[len(run)-1].ID, run[0].ID)
	}
	silenced := slices.ContainsFunc(run, func(e journal.Entry) bool {
		return c.silences(e) && !slices.Contains(waited, e.ID) && !slices.Contains(underWay, e.ID)
	})
	result = journal.NotSilenced
	switch {
	case silenced && c.options.Lift == nil:
		result, kept = journal.SilenceKept, "chatguard has no token: lift it in the chat"
	case silenced:
		result = journal.SilenceLifted
		if err := c.options.Lift(ctx, t.ChannelID, t.UserID); err != nil {
			result, kept = journal.SilenceKept, err.Error()
		}
	}
	if result == journal.NotSilenced && len(underWay) > 0 {
		result = journal.SilenceLifting
	}
	return result, kept, len(waited)
}

// strikes is how many strikes of a user count.
func (c *Controls) strikes(t journal.Target) (int, error) {
	e, err := c.options.Guard.Explain(chatguard.Message{ChannelID: t.ChannelID, User: chatguard.User{ID: t.UserID}, SentAt: c.options.Now()})
	return e.Strikes, err
}

// Unpardon undoes a user's last pardon, if it is the one of that ID and nothing has changed since that it would change. The strikes count again, and so
// does what was refunded; penalties that were lifted or dropped stay so. Doing it twice is doing it once.
func (c *Controls) Unpardon(ctx context.Context, t journal.Target, id int64) (undone journal.Undone, saved bool, err error) {
	done, again, err := c.pardons.undo(t, id, c.options.Now(), func(taken chatguard.Pardoned) error {
		return c.options.Guard.Unpardon(taken, c.options.Now())
	})
	if err != nil {
		return undone, false, err
	}
	undone = journal.Undone{
		Messages: done.Messages, Strikes: done.Strikes, Dropped: done.Dropped,
		Lifted: done.Silence == journal.SilenceLifted || done.Silence == journal.SilenceLifting,
	}
	if again {
		return undone, c.options.Store.Commit(ctx), nil
	}
	saved, err = c.amended(ctx, t, journal.UserUnpardoned, map[string]any{
		"pardon": done.ID, "first": done.First, "last": done.Last, "messages": done.Messages, "strikes": done.Strikes,
	})
	return undone, saved, err
}

// Pardon forgives a single throttled message: its penalty is lifted, or dropped if it is still waiting; what it spent is refunded, and its
// strike is taken back. Doing it twice is doing it once.
func (c *Controls) Pardon(ctx context.Context, id chatguard.EntryID, author string) (saved bool, err error) {
	e, ok, err := c.options.Store.Entry(ctx, id)
	switch {
	case err != nil:
		return false, c.trouble(err)
	case !ok:
		return false, journal.ErrNoEntry
	}
	done, err := c.options.Guard.Pardon(e.Verdict(), c.options.Now())
	if err != nil {
		return false, err
	}
	t := journal.Target{ChannelID: e.ChannelID, UserID: e.UserID, Author: author}
	silence, kept, _ := c.endPenalties(ctx, t, []journal.Entry{e})
	if done {
		saved, err = c.amended(ctx, t, journal.UserPardoned, map[string]any{"entry": e.ID})
	} else {
		saved = c.options.Store.Commit(ctx) // it was noted when it was done, and may wait still
	}
	if silence == journal.SilenceKept {
		return saved, errors.Join(fmt.Errorf("the strike is taken back, but %w: %s", journal.ErrSilenced, kept), err)
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
