package control

import (
	"context"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/penalties"
)

// silenceRecords is how many of a user's latest entries, and how many of the latest changes about
// the user, are searched for a timeout or ban.
const silenceRecords = 20

// Of returns a user's timeout or ban, or nil if none is known. If the chat reports none, for
// example after a restart, Of searches the records. If the last one was ended, endedAt is when.
func (c *Silences) Of(ctx context.Context, t journal.Target) (s *journal.Silence, endedAt time.Time) {
	if !c.CanAct(t.ChannelID) {
		return nil, endedAt
	}
	if s, ok := c.Known(t.ChannelID, t.UserID); ok {
		if s.IsInForce(c.records.now()) {
			return &s, endedAt
		}
		return nil, s.Until
	}
	last, pardonedAt, err := c.lastAct(ctx, t)
	if err != nil {
		c.records.log.Warn("a user's last changes can't be read", "error", err)
		return nil, endedAt
	}
	given, at, err := c.lastPenalty(ctx, t)
	if err != nil {
		c.records.log.Warn("a user's last entries can't be read", "error", err)
		return nil, endedAt
	}
	switch {
	case given != nil && at.After(pardonedAt) && at.After(last.At):
		return given, endedAt
	case last.Action == journal.UserLifted:
		return nil, last.At
	case last.Action == "" || !silenceOf(last).IsInForce(c.records.now()):
		return nil, endedAt
	}
	act := silenceOf(last)
	return &act, endedAt
}

// Recall tells the chat the timeouts and bans in force from before the start, so that it knows them
// like those that it reports. It reads the latest n of each kind from the records.
func (c *Silences) Recall(ctx context.Context, n int) error {
	if c.acts.Recall == nil {
		return nil
	}
	targets, err := c.recorded(ctx, n)
	for _, t := range targets {
		if s, _ := c.Of(ctx, t); s != nil {
			c.acts.Recall(t, *s)
		}
	}
	return err
}

// recorded returns users whose timeout or ban is among the latest n in the audit or the latest n in
// the journal, each once. Of says whether one is in force.
func (c *Silences) recorded(ctx context.Context, n int) (targets []journal.Target, err error) {
	seen := map[journal.Target]bool{}
	add := func(channelID, userID string) {
		if t := (journal.Target{ChannelID: channelID, UserID: userID}); !seen[t] {
			seen[t], targets = true, append(targets, t)
		}
	}
	for _, action := range []journal.AuditAction{journal.UserTimedOut, journal.UserBanned} {
		changes, err := c.records.store.Audits(ctx, journal.AuditFilter{Action: action, N: n})
		if err != nil {
			return nil, err
		}
		for _, a := range changes {
			add(a.ChannelID, a.UserID)
		}
	}
	for _, action := range []chatguard.Action{chatguard.ActionTimeout, chatguard.ActionBan} {
		entries, err := c.records.store.Entries(ctx, journal.EntryFilter{Action: string(action), Result: journal.Done, N: n})
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			add(e.ChannelID, e.UserID)
		}
	}
	return targets, nil
}

// Known returns a user's last timeout or ban as the chat knows it, even if it is over; ok is false
// if the chat knows of none. Known reads no records.
func (c *Silences) Known(channelID, userID string) (s journal.Silence, ok bool) {
	if !c.CanAct(channelID) {
		return s, false
	}
	return c.acts.Silence(channelID, userID)
}

// lastAct returns the last timeout, ban or lift that a person gave a user here; the zero Audit if
// there is none. endedAt is when the user was last pardoned, which lifts earlier penalties.
func (c *Silences) lastAct(ctx context.Context, t journal.Target) (last journal.Audit, endedAt time.Time, err error) {
	changes, err := c.records.store.Audits(ctx, journal.AuditFilter{ChannelID: t.ChannelID, UserID: t.UserID, N: silenceRecords})
	for _, a := range changes {
		switch a.Action {
		case journal.UserTimedOut, journal.UserBanned, journal.UserLifted:
			return a, endedAt, err
		case journal.UserPardoned:
			if endedAt.IsZero() {
				endedAt = a.At
			}
		}
	}
	return last, endedAt, err
}

// silenceOf returns the timeout or ban that a person gave.
func silenceOf(a journal.Audit) journal.Silence {
	s := journal.Silence{Banned: a.Action == journal.UserBanned, At: a.At.UTC(), By: a.Author}
	if detail, ok := journal.DetailOf[journal.TimeoutDetail](a); ok && !s.Banned {
		s.Until = detail.Until // an unreadable end counts as over
	}
	return s
}

// lastPenalty returns the timeout or ban in force that chatguard last gave a user as a penalty; nil
// if there is none. at is when it was given.
func (c *Silences) lastPenalty(ctx context.Context, t journal.Target) (s *journal.Silence, at time.Time, err error) {
	entries, err := c.records.store.Entries(ctx, journal.EntryFilter{ChannelID: t.ChannelID, UserID: t.UserID, N: silenceRecords})
	for _, e := range entries {
		o := e.Outcome
		if o.Result != journal.Done || o.Action != e.Penalty.Action || !penalties.Silences(o.Action) {
			continue
		}
		s := journal.Silence{Banned: o.Action == chatguard.ActionBan, At: o.At.UTC(), By: journal.ProgramAuthor}
		switch {
		case e.Penalty.UntilRefill:
			s.Until = e.MaySpeakAt.Time
		case !s.Banned:
			s.Until = o.At.Add(e.Penalty.Duration).UTC()
		}
		if s.IsInForce(c.records.now()) {
			return &s, o.At, err
		}
	}
	return nil, at, err
}
