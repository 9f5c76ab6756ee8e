package control

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

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
	r, err := c.actsOf(ctx, t)
	if err != nil {
		c.records.log.Warn("a user's last changes can't be read", "error", err)
		return nil, endedAt
	}
	if r.given, err = c.lastPenalty(ctx, t); err != nil {
		c.records.log.Warn("a user's last entries can't be read", "error", err)
		return nil, endedAt
	}
	return r.silence(c.records.now())
}

// Recall tells the chat the timeouts and bans from before the start that are still in force, so
// that it knows them like those that it reports. It leaves out bans that were given before a time.
// Of more than n, it tells the latest.
func (c *Silences) Recall(ctx context.Context, bansFrom time.Time, n int) error {
	if c.acts.Recall == nil {
		return nil
	}
	now := c.records.now()
	since := now.Add(-penalties.MaxTimeout)
	isWanted := func(s *journal.Silence) bool { return s.IsInForce(now) && !(s.Banned && s.At.Before(bansFrom)) }
	users, err := c.actsSince(ctx, since)
	if err != nil {
		return err
	}
	entries, err := c.records.store.Silencing(ctx, since, func(e *journal.Entry) bool {
		s := penaltyOf(e)
		return s != nil && isWanted(s)
	}, n)
	if err != nil {
		return err
	}
	for i := range entries {
		e := &entries[i]
		recordOf(users, e.ChannelID, e.UserID).given = penaltyOf(e)
	}
	type recalled struct {
		journal.Target
		journal.Silence
	}
	var all []recalled
	for t, r := range users {
		if s, _ := r.silence(now); s != nil && isWanted(s) && c.CanAct(t.ChannelID) {
			all = append(all, recalled{t, *s})
		}
	}
	slices.SortFunc(all, func(a, b recalled) int {
		return cmp.Or(b.At.Compare(a.At), strings.Compare(a.ChannelID, b.ChannelID), strings.Compare(a.UserID, b.UserID))
	})
	for _, r := range all[:min(n, len(all))] {
		if _, ok := c.Known(r.ChannelID, r.UserID); !ok {
			c.acts.Recall(r.Target, r.Silence)
		}
	}
	return nil
}

// recall returns a user's timeout or ban as Of does, and makes the chat know it, so that all
// dashboards show it.
func (c *Silences) recall(ctx context.Context, t journal.Target) *journal.Silence {
	s, _ := c.Of(ctx, t)
	if s != nil && c.acts.Recall != nil {
		c.acts.Recall(t, *s)
	}
	return s
}

// auditPage is how many changes are read at once.
const auditPage = 1000

// actsSince returns what people did to users since a time.
func (c *Silences) actsSince(ctx context.Context, since time.Time) (users map[journal.Target]*silenceRecord, err error) {
	users = map[journal.Target]*silenceRecord{}
	for before := int64(0); ; {
		changes, err := c.records.store.Audits(ctx, journal.AuditFilter{Before: before, N: auditPage})
		if err != nil {
			return nil, err
		}
		for _, a := range changes {
			if a.At.Before(since) {
				return users, nil
			}
			if silenceActions[a.Action] {
				recordOf(users, a.ChannelID, a.UserID).note(a)
			}
		}
		if len(changes) < auditPage {
			return users, nil
		}
		before = changes[len(changes)-1].ID
	}
}

// recordOf returns the record of a user, which it adds if there is none.
func recordOf(users map[journal.Target]*silenceRecord, channelID, userID string) *silenceRecord {
	t := journal.Target{ChannelID: channelID, UserID: userID}
	if users[t] == nil {
		users[t] = &silenceRecord{}
	}
	return users[t]
}

// Known returns a user's last timeout or ban as the chat knows it, even if it is over; ok is false
// if the chat knows of none. Known reads no records.
func (c *Silences) Known(channelID, userID string) (s journal.Silence, ok bool) {
	if !c.CanAct(channelID) {
		return s, false
	}
	return c.acts.Silence(channelID, userID)
}

// silenceRecord is what the records have about a user's timeout or ban.
type silenceRecord struct {
	last       journal.Audit    // the last timeout, ban or lift by a person; zero if there is none
	pardonedAt time.Time        // the last pardon, which lifts earlier penalties, also restored ones
	given      *journal.Silence // the last penalty in force; nil if there is none
}

// silenceActions are the changes that a silenceRecord notes.
var silenceActions = map[journal.AuditAction]bool{
	journal.UserTimedOut: true, journal.UserBanned: true, journal.UserLifted: true, journal.UserPardoned: true,
}

// note adds a change. The latest one comes first.
func (r *silenceRecord) note(a journal.Audit) {
	switch {
	case !silenceActions[a.Action]:
	case a.Action != journal.UserPardoned && r.last.Action == "":
		r.last = a
	case a.Action == journal.UserPardoned && r.pardonedAt.IsZero():
		r.pardonedAt = a.At
	}
}

// silence returns the timeout or ban in force, or nil if there is none. If the last one was lifted,
// endedAt is when.
func (r *silenceRecord) silence(now time.Time) (s *journal.Silence, endedAt time.Time) {
	act := silenceOf(r.last)
	switch {
	case r.given != nil && r.given.At.After(r.pardonedAt) && r.given.At.After(r.last.At):
		return r.given, endedAt
	case r.last.Action == journal.UserLifted:
		return nil, r.last.At
	case r.last.Action == "", !act.IsInForce(now), act.By == journal.ProgramAuthor && !act.At.After(r.pardonedAt):
		return nil, endedAt
	}
	return &act, endedAt
}

// actsOf reads what people last did to a user.
func (c *Silences) actsOf(ctx context.Context, t journal.Target) (r silenceRecord, err error) {
	changes, err := c.records.store.Audits(ctx, journal.AuditFilter{ChannelID: t.ChannelID, UserID: t.UserID, N: silenceRecords})
	for _, a := range changes {
		r.note(a)
	}
	return r, err
}

// lastPenalty returns the timeout or ban in force that chatguard last gave a user as a penalty; nil
// if there is none.
func (c *Silences) lastPenalty(ctx context.Context, t journal.Target) (*journal.Silence, error) {
	entries, err := c.records.store.Entries(ctx, journal.EntryFilter{ChannelID: t.ChannelID, UserID: t.UserID, N: silenceRecords})
	for i := range entries {
		if s := penaltyOf(&entries[i]); s != nil && s.IsInForce(c.records.now()) {
			return s, err
		}
	}
	return nil, err
}

// silenceOf returns the timeout or ban that a person gave, or restored by undoing their act.
func silenceOf(a journal.Audit) journal.Silence {
	s := journal.Silence{Banned: a.Action == journal.UserBanned, At: a.At.UTC(), By: a.Author}
	if detail, ok := journal.DetailOf[journal.TimeoutDetail](a); ok && !s.Banned {
		s.Until = detail.Until // an unreadable end counts as over
		if detail.Restored {
			s.By = detail.By
		}
	}
	return s
}

// penaltyOf returns the timeout or ban that chatguard gave as the penalty of an entry; nil if it
// gave none.
func penaltyOf(e *journal.Entry) *journal.Silence {
	o := e.Outcome
	if o.Result != journal.Done || o.Action != e.Penalty.Action || !penalties.Silences(o.Action) {
		return nil
	}
	s := e.Silence(o.At)
	return &s
}
