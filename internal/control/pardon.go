package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/penalties"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/limitinfo"
)

const (
	// maxRun is the maximum number of messages that one pardon covers, because a spammer may have
	// thousands in a row.
	maxRun = 1000
	// runPage is the number of entries read at a time.
	runPage = 200
	// undoable is how long a pardon can be undone.
	undoable = 5 * time.Minute
	// maxPardons is the number of pardons that are remembered for an undo.
	maxPardons = 1000
)

// Pardons forgive throttled messages. They are safe for concurrent use.
type Pardons struct {
	guard    *chatguard.Guard
	records  *records
	silences *Silences
	last     *lastPardons

	// Both are the Chat's.
	lift    func(ctx context.Context, channelID, userID string) error
	forgive func(channelID, userID string, first, last chatguard.EntryID) (dropped, underWay []chatguard.EntryID)
}

// PardonUser forgives all messages of a run: the run that contains the user's newest throttled
// message. It drops pending penalties, lifts a timeout or ban given by chatguard, takes strikes
// back and refunds the messages' cost. A second call has no effect.
//
// A run is a sequence of throttled messages without a gap. There is no gap between two messages if
// the first throttled the user until the second, or if they are so close together that they share a
// strike.
func (p *Pardons) PardonUser(ctx context.Context, t journal.Target) (done journal.Pardon, saved bool, err error) {
	run, hasOlder, err := p.run(ctx, t)
	switch {
	case err != nil:
		return done, false, p.records.trouble(err)
	case len(run) == 0:
		return done, false, ErrNoEntry
	}
	if done, err = p.pardonRun(ctx, t, run); err != nil {
		tried := journal.PardonDetail{First: done.First, Last: done.Last, Messages: len(run), Silence: journal.NotSilenced}
		return done, false, p.records.notAmended(ctx, t, journal.UserPardoned, tried, err)
	}
	done.HasOlder = hasOlder
	dropped := 0
	done.Silence, done.Kept, dropped = p.endPenalties(ctx, t, run)
	done.Dropped += dropped
	p.addRemaining(ctx, t, &done)
	p.last.complete(t, done)
	if done.StrikesLeft, err = p.strikes(ctx, t); err != nil {
		return done, false, err
	}
	if done.Again && dropped == 0 {
		// an earlier call made the pardon, maybe not stored yet
		return done, p.records.commit(ctx), nil
	}
	saved, err = p.records.amended(ctx, t, journal.UserPardoned, journal.PardonDetail{
		Pardon: done.ID, First: done.First, Last: done.Last, Messages: done.Messages, Strikes: done.Strikes, Silence: done.Silence, Dropped: done.Dropped,
		Partial: done.IsPartial(),
	})
	return done, saved, err
}

// run returns the entries of the user's last run, newest first. hasOlder reports whether the run
// has older entries, beyond the maximum of one pardon.
func (p *Pardons) run(ctx context.Context, t journal.Target) (run []journal.Entry, hasOlder bool, err error) {
	after, err := p.lastReset(ctx, t)
	if err != nil {
		return nil, false, err
	}
	every := inner.Of(p.guard).InForce(t.ChannelID).Penalties.StrikeEvery
	wanted := journal.EntryFilter{ChannelID: t.ChannelID, UserID: t.UserID, N: runPage}
	for {
		page, err := p.records.store.Entries(ctx, wanted)
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

// isBefore reports whether e belongs to the same run as next, the user's next throttled message. It
// does if e throttled the user until next, or if both share a strike.
func isBefore(e, next journal.Entry, strikeEvery time.Duration) bool {
	return journal.ThrottledUntil(e.At, e.MaySpeakAt.Time).After(next.At) || next.At.Sub(e.At) < strikeEvery
}

// lastReset returns when the user was last reset, or the zero time if that is not known. Messages
// throttled before a reset no longer count.
func (p *Pardons) lastReset(ctx context.Context, t journal.Target) (time.Time, error) {
	resets, err := p.records.store.Audits(ctx, journal.AuditFilter{ChannelID: t.ChannelID, UserID: t.UserID, Action: journal.UserReset, N: 1})
	if err != nil || len(resets) == 0 {
		return time.Time{}, err
	}
	return resets[0].At, nil
}

// pardonRun makes the Guard forgive the messages, and remembers how to undo the pardon.
func (p *Pardons) pardonRun(ctx context.Context, t journal.Target, run []journal.Entry) (done journal.Pardon, err error) {
	newest, oldest := run[0], run[len(run)-1]
	verdicts := make([]chatguard.Verdict, len(run))
	deleted := 0
	for i := range run {
		verdicts[i] = run[i].Verdict()
		if o := run[i].Outcome; o.Result == journal.Done && penalties.Rank(o.Action) > 0 {
			deleted++
		}
	}
	return p.last.give(ctx, t, p.records.now(), func(now time.Time) (journal.Pardon, inner.Pardoned, error) {
		taken, err := inner.At(p.guard, now).PardonAll(whole(ctx), verdicts)
		return journal.Pardon{
			By: t.Author, At: now.UTC(), First: oldest.ID, Last: newest.ID, Since: oldest.At,
			Messages: taken.Offences, Deleted: deleted, Strikes: taken.Strikes,
		}, taken, err
	})
}

// endPenalties drops the pending penalties for the run's entries. It lifts a timeout or ban that
// one of the other entries may have caused.
func (p *Pardons) endPenalties(ctx context.Context, t journal.Target, run []journal.Entry) (result journal.SilenceResult, kept string, dropped int) {
	ctx, cancel := policies.UntilKept(ctx)
	defer cancel()
	var waited, underWay []chatguard.EntryID
	if p.forgive != nil {
		waited, underWay = p.forgive(t.ChannelID, t.UserID, run[len(run)-1].ID, run[0].ID)
	}
	silenced := slices.ContainsFunc(run, func(e journal.Entry) bool {
		return p.maySilence(e) && !slices.Contains(waited, e.ID) && !slices.Contains(underWay, e.ID)
	})
	result = journal.NotSilenced
	switch {
	case silenced && p.lift == nil:
		result, kept = journal.SilenceKept, "chatguard has no token: lift it in the chat"
	case silenced:
		switch err := p.liftPenalty(ctx, t, run[0].At); {
		case err == nil:
			result = journal.SilenceLifted
		case !errors.Is(err, ErrNotSilenced):
			result, kept = journal.SilenceKept, err.Error()
		}
	}
	if result == journal.NotSilenced && len(underWay) > 0 {
		result = journal.SilenceLifting
	}
	return result, kept, len(waited)
}

// errNotOfRun is the reason why a pardon leaves a timeout or ban in force that none of the pardoned
// messages caused.
var errNotOfRun = errors.New("a pardon ends only what chatguard gave for these messages: end it yourself")

// addRemaining adds the timeout or ban that remains in force.
func (p *Pardons) addRemaining(ctx context.Context, t journal.Target, done *journal.Pardon) {
	done.Silenced = nil // an earlier pardon of these messages may have left another
	if done.Silence != journal.NotSilenced && done.Silence != journal.SilenceKept {
		return
	}
	done.Silenced = p.silences.recall(ctx, t)
	if done.Silence == journal.NotSilenced && done.Silenced != nil {
		done.Silence, done.Kept = journal.SilenceKept, errNotOfRun.Error()
	}
}

// errActedSince is the error if a person's timeout or ban has replaced chatguard's.
var errActedSince = errors.New("a person has timed out or banned this user since: end that instead")

// liftPenalty lifts the user's timeout or ban, unless a person gave one with the dashboard after
// the time of the user's newest pardoned message. After a restart, only the audit knows that.
// chatguard's own timeout, which an undo has restored, is no person's.
func (p *Pardons) liftPenalty(ctx context.Context, t journal.Target, newest time.Time) error {
	acts, err := p.silences.actsOf(ctx, t)
	switch s := silenceOf(acts.last); {
	case err != nil:
		return p.records.trouble(err)
	case s.At.After(newest) && s.IsInForce(p.records.now()) && s.By != journal.ProgramAuthor:
		return errActedSince
	}
	return p.lift(ctx, t.ChannelID, t.UserID)
}

// strikes returns the number of a user's strikes that count.
func (p *Pardons) strikes(ctx context.Context, t journal.Target) (int, error) {
	e, err := limitinfo.Explain(ctx, p.guard, chatguard.Message{ChannelID: t.ChannelID, User: chatguard.User{ID: t.UserID}, SentAt: p.records.now()})
	return e.Strikes, err
}

// Undo undoes a user's last pardon if its ID is id. It fails if the state that it would restore
// has changed since. The strikes and the refunded cost count again. Penalties that were lifted or
// dropped are not given again. A second call has no effect.
func (p *Pardons) Undo(ctx context.Context, t journal.Target, id int64) (undone journal.Undone, saved bool, err error) {
	done, again, err := p.last.undo(ctx, t, id, p.records.now(), func(taken inner.Pardoned) error {
		return inner.At(p.guard, p.records.now()).Unpardon(whole(ctx), t.Key(), taken)
	})
	detail := journal.UnpardonDetail{Pardon: done.ID, First: done.First, Last: done.Last, Messages: done.Messages, Strikes: done.Strikes}
	if err != nil {
		return undone, false, p.records.notAmended(ctx, t, journal.UserUnpardoned, detail, err)
	}
	undone = journal.Undone{
		Messages: done.Messages, Strikes: done.Strikes, Dropped: done.Dropped,
		Lifted: done.Silence == journal.SilenceLifted || done.Silence == journal.SilenceLifting,
	}
	if again {
		return undone, p.records.commit(ctx), nil
	}
	saved, err = p.records.amended(ctx, t, journal.UserUnpardoned, detail)
	return undone, saved, err
}

// PardonEntry forgives a single throttled message. It lifts the penalty, or drops it if it is
// pending. It refunds the cost and takes back the strike. A second call has no effect. Undo undoes
// it.
func (p *Pardons) PardonEntry(ctx context.Context, id chatguard.EntryID, author string) (done journal.Pardon, saved bool, err error) {
	e, ok, err := p.records.store.Entry(ctx, id)
	switch {
	case err != nil:
		return done, false, p.records.trouble(err)
	case !ok:
		return done, false, ErrNoEntry
	}
	t := journal.Target{ChannelID: e.ChannelID, UserID: e.UserID, Author: author}
	run := []journal.Entry{e}
	if done, err = p.pardonRun(ctx, t, run); err != nil {
		return done, false, p.records.notAmended(ctx, t, journal.UserPardoned, journal.EntryPardonDetail{Entry: e.ID}, err)
	}
	done.Silence, done.Kept, done.Dropped = p.endPenalties(ctx, t, run)
	p.last.complete(t, done)
	if done.Again {
		saved = p.records.commit(ctx) // an earlier call made the pardon, maybe not stored yet
	} else {
		saved, err = p.records.amended(ctx, t, journal.UserPardoned, journal.EntryPardonDetail{Entry: e.ID, Pardon: done.ID, Partial: done.IsPartial()})
	}
	if done.Silence == journal.SilenceKept {
		return done, saved, errors.Join(fmt.Errorf("the strike was removed, but %w: %s", ErrSilenced, done.Kept), err)
	}
	return done, saved, err
}

// maySilence reports whether the action on a message may still keep its author from writing. An
// action that is pending, or was when a process ended, may have been merged with others into a
// timeout. The entry of a ban says so before the ban is sent.
func (p *Pardons) maySilence(e journal.Entry) bool {
	o := e.Outcome
	mayBeMerged := o.Result == journal.Pending || o.Result == journal.Unknown && o.Reason == journal.Interrupted
	switch {
	case o.Result != journal.Done && o.Result != journal.Unknown && !mayBeMerged:
		return false
	case o.Action == chatguard.ActionBan:
		return true
	case o.Action == chatguard.ActionTimeout, mayBeMerged && p.lift != nil && (o.Action == "" || penalties.Rank(o.Action) > 0):
		return o.At.Add(p.longestTimeout(e)).After(p.records.now())
	}
	return false
}

// longestTimeout returns how long a timeout for a message may last. A timeout for several messages
// may be longer than the one that was due for this message.
func (p *Pardons) longestTimeout(e journal.Entry) time.Duration {
	longest := e.Penalty.Duration
	if o := e.Outcome; o.Result == journal.Done && o.Reason == "" {
		return longest // carried out as it was due
	}
	longest = max(longest, journal.MostMerged)
	for _, rung := range inner.Of(p.guard).InForce(e.ChannelID).Penalties.Ladder {
		if longest = max(longest, rung.Duration); rung.UntilRefill {
			longest = max(longest, e.MaySpeakAt.Sub(e.At))
		}
	}
	return longest
}
