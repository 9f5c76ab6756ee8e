package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
	"github.com/chatguard/chatguard/limitinfo"
	"github.com/chatguard/chatguard/shared"
)

// lastEntries is the number of journal entries on a user's card.
const lastEntries = 20

// card describes a user in a channel, and explains why they may or may not write now.
type card struct {
	Channel string `json:"channel"`
	UserID  string `json:"user_id"`
	Login   string `json:"login"` // empty if the user was never seen
	// DisplayName is omitted if it is not known or equals the login.
	DisplayName string `json:"display_name,omitempty"`
	// Roles are the user's roles when last seen. The other fields are computed for these roles.
	Roles    chatguard.Roles `json:"roles"`
	LastSeen time.Time       `json:"last_seen,omitzero"`
	Timezone string          `json:"timezone"` // time zone of the user's day
	// DayEnds is when the user's day ends. Without a daily limit it is the next midnight in
	// Timezone.
	DayEnds time.Time `json:"day_ends"`

	// RoleNumbers contains, by limit, the numbers that would apply to the user without an override.
	RoleNumbers map[string]chatguard.Override `json:"role_numbers"`

	limitinfo.Explanation
	// SameText are the limits on repeated text that can throttle the user, with the numbers for the
	// user's roles. The user has no usage of them: each text has one.
	SameText []chatguard.Limit `json:"same_text"`
	// SameAgain says when the user's last throttled message may be written again; nil if no limit
	// on repeated text throttles it now.
	SameAgain *sameAgain `json:"same_again,omitempty"`

	Override chatguard.UserOverride `json:"override"` // in this channel
	// OverrideETag is the ETag of the user's override in this channel.
	OverrideETag string `json:"override_etag"`
	// EverywhereOverride is the user's override for limits across all channels.
	EverywhereOverride chatguard.UserOverride `json:"everywhere_override"`

	// Silenced is the user's timeout or ban; nil if none is known.
	Silenced *journal.Silence `json:"silenced,omitempty"`

	// Notes are the moderators' notes on the user, newest first.
	Notes []journal.Note `json:"notes"`
	// Entries are the user's last entries, newest first.
	Entries []shownEntry `json:"entries"`
	// EntriesUnavailable is true if the database is failing. Entries, login and roles are then
	// unknown.
	EntriesUnavailable bool `json:"entries_unavailable,omitempty"`
}

// getUser is GET /channels/{channel}/users/{id}. If the database cannot be read, the answer
// contains only the Guard's data.
func (h *users) getUser(w http.ResponseWriter, r *http.Request, _ access.Caller) error {
	channel, user, err := h.pathUser(r)
	if err != nil {
		return err
	}
	c := card{Channel: channel, UserID: user, Notes: h.notesOn(channel, user)}
	if err := h.addRecords(r.Context(), &c); err != nil {
		h.log.Warn("a user's entries can't be read", "error", err)
		c.EntriesUnavailable = true
	}
	if c.Explanation, err = h.explain(r.Context(), channel, user, c.Roles); err != nil {
		return problem.New(http.StatusUnprocessableEntity, "%s", journal.Sentence(err))
	}
	h.addSilence(r.Context(), &c)
	if c.Override, err = h.overrideOf(r.Context(), chatguard.Key{ChannelID: channel, UserID: user}); err != nil {
		return err
	}
	c.EverywhereOverride, err = h.overrideOf(r.Context(), chatguard.Key{UserID: user, Per: chatguard.PerUserEverywhere})
	if err != nil && !errors.Is(err, chatguard.ErrNoLimit) {
		return err
	}
	policy := inner.Of(h.guard).InForce(channel)
	c.OverrideETag = policies.Tag(c.Override)
	c.Timezone = dayZone(policy, c.Override)
	c.DayEnds = dayEnd(policy, c.Limits, c.Timezone, h.guard.Now())
	c.RoleNumbers = roleNumbers(policy.Limits, c.Limits)
	c.SameText, _ = inner.TextLimits(h.guard, channel, c.Roles)
	c.SameAgain = h.findSameAgain(r.Context(), &c)
	return problem.WriteJSON(w, c)
}

// addRecords adds the data that the database has about a user.
func (h *users) addRecords(ctx context.Context, c *card) error {
	c.Entries = []shownEntry{}
	person, _, err := h.store.Person(ctx, c.Channel, c.UserID)
	if err != nil {
		return err
	}
	c.Login, c.DisplayName, c.Roles, c.LastSeen = person.Login, person.DisplayName, person.Roles, person.LastSeen
	entries, err := h.store.Entries(ctx, journal.EntryFilter{ChannelID: c.Channel, UserID: c.UserID, N: lastEntries})
	if err != nil {
		return err
	}
	shown, err := addPardons(ctx, h.store, entries)
	c.Entries = append(c.Entries, shown...)
	return err
}

// addSilence adds the user's timeout or ban. If a person has lifted the Guard's timeout, the card
// doesn't show it.
func (h *users) addSilence(ctx context.Context, c *card) {
	if h.silences == nil {
		return
	}
	silence, liftedAt := h.silences.Of(ctx, journal.Target{ChannelID: c.Channel, UserID: c.UserID})
	c.Silenced = silence
	if !liftedAt.IsZero() && (len(c.Entries) == 0 || c.Entries[0].At.Before(liftedAt)) {
		c.SilentUntil = time.Time{}
	}
}

// explain returns the Guard's explanation of the user's current state.
func (h *users) explain(ctx context.Context, channel, user string, roles chatguard.Roles) (limitinfo.Explanation, error) {
	return limitinfo.Explain(ctx, h.guard, chatguard.Message{ChannelID: channel, User: chatguard.User{ID: user, Roles: roles}, SentAt: h.guard.Now()})
}

// sameAgain says when a user may write their last throttled message again. Another message may pass
// earlier.
type sameAgain struct {
	Limit      string          `json:"limit"` // on repeated text
	MaySpeakAt time.Time       `json:"may_speak_at"`
	Repeats    journal.Repeats `json:"repeats,omitzero"` // of that message
}

// findSameAgain returns nil if no limit on repeated text throttles the user's last throttled
// message now, or if the message is unknown. It also returns nil if waiting never helps, because
// then the reason isn't that the text is the same.
func (h *users) findSameAgain(ctx context.Context, c *card) *sameAgain {
	m, repeats := h.channels.model.LastThrottled(c.Channel, c.UserID)
	if m.Print == nil {
		return nil
	}
	m.User.Roles = c.Roles
	v, err := h.guard.Peek(ctx, m)
	if err != nil || v.Allowed || v.Never || !inner.IsText(inner.Of(h.guard).Limit(c.Channel, v.Limit).Per) {
		return nil
	}
	return &sameAgain{v.Limit, journal.MaySpeakAt(v), repeats}
}

// overrideOf returns a user's override. While the shared store is away or refuses, it returns the
// one that is known, like the numbers of an explanation.
func (h *users) overrideOf(ctx context.Context, k chatguard.Key) (chatguard.UserOverride, error) {
	own, err := h.guard.UserOverride(ctx, k)
	if errors.Is(err, shared.ErrAway) || errors.Is(err, shared.ErrRefused) {
		err = nil
	}
	return own, err
}

// dayZone returns the time zone in which a user's day starts and ends.
func dayZone(p chatguard.Policy, own chatguard.UserOverride) string {
	limit := ""
	if i := slices.IndexFunc(p.Limits, func(l chatguard.Limit) bool { return countsByDays(l) && inner.IsPersonal(l.Per) }); i >= 0 {
		limit = p.Limits[i].Timezone
	}
	return cmp.Or(own.Timezone, limit, p.Timezone, "UTC")
}

// dayEnd returns when the user's day ends.
func dayEnd(p chatguard.Policy, standing []limitinfo.Status, zone string, now time.Time) time.Time {
	if i := slices.IndexFunc(p.Limits, func(l chatguard.Limit) bool { return countsByDays(l) && inner.IsPersonal(l.Per) }); i >= 0 {
		for _, s := range standing {
			if s.Name == p.Limits[i].Name && s.ResetAt.After(now) {
				return s.ResetAt
			}
		}
	}
	location, err := time.LoadLocation(zone)
	if err != nil {
		location = time.UTC // can't fail: time zones are validated
	}
	year, month, day := now.In(location).Date()
	return time.Date(year, month, day+1, 0, 0, 0, 0, location)
}

// roleNumbers returns, by limit, the numbers for a user whose limits have the given states. The
// numbers of the role that the state names replace the general ones.
func roleNumbers(limits []chatguard.Limit, states []limitinfo.Status) map[string]chatguard.Override {
	role := map[string]chatguard.Role{}
	for _, state := range states {
		role[state.Name] = state.Role
	}
	numbers := map[string]chatguard.Override{}
	for _, l := range limits {
		n := inner.NumbersOf(l, l.Roles[role[l.Name]])
		n.Queue = cmp.Or(n.Queue, noQueueNumber(l))
		numbers[l.Name] = n
	}
	return numbers
}

// noQueueNumber returns the number that stands for "no queue" in a limit.
func noQueueNumber(l chatguard.Limit) int {
	if l.Algorithm == chatguard.LeakyBucket {
		return chatguard.NoQueue
	}
	return 0
}
