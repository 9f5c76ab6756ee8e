package web

import (
	"context"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/language"
	"github.com/chatguard/chatguard/limitinfo"
)

// viewerReason is why a viewer may not write now.
type viewerReason string

// The reasons.
const (
	reasonLimit   viewerReason = "limit"   // a limit of their own
	reasonBusy    viewerReason = "busy"    // a limit that everyone shares
	reasonTimeout viewerReason = "timeout" // they are timed out
	reasonBan     viewerReason = "ban"
)

// viewerStanding is what a viewer may know about themselves. It reveals nothing about others. Of
// limits that everyone shares, it says only whether they are full.
type viewerStanding struct {
	Now         time.Time `json:"now"`
	Channel     string    `json:"channel"` // login
	Login       string    `json:"login"`
	DisplayName string    `json:"display_name"`

	MayWrite bool `json:"may_write"`
	// Reason is why MayWrite is false.
	Reason viewerReason `json:"reason,omitempty" jsonschema:"Why not: busy is a limit that everyone shares."`
	// NextAt is when the next message is allowed. It is zero if the viewer may write, if the time
	// isn't known, or if it never comes.
	NextAt time.Time `json:"next_at,omitzero"`
	Never  bool      `json:"never,omitempty"` // waiting never helps
	Limit  string    `json:"limit,omitempty"` // the limit of their own that throttles them longest

	Exempt    bool      `json:"exempt"`    // no limit counts
	Observing bool      `json:"observing"` // limits only report, so nobody is throttled
	RaidUntil time.Time `json:"raid_until,omitzero"`
	// Limits are those that count for this viewer, except those that everyone shares, and those on
	// repeated text, which are in SameText.
	Limits   []viewerLimit `json:"limits"`
	SameText []viewerRule  `json:"same_text"`
}

// viewerLimit is a viewer's usage of a limit.
type viewerLimit struct {
	viewerRule
	Everywhere bool      `json:"everywhere"` // it counts in all channels together
	Granted    int       `json:"granted"`    // extra messages
	Used       int       `json:"used"`
	Remaining  int       `json:"remaining"`
	NextAt     time.Time `json:"next_at,omitzero"`  // when it allows the next message
	ResetAt    time.Time `json:"reset_at,omitzero"` // when all usage will have expired
}

// viewerRule is what a limit allows a viewer.
type viewerRule struct {
	Name      string              `json:"name"`
	Title     string              `json:"title"` // what the viewer reads, in their language
	Algorithm chatguard.Algorithm `json:"algorithm"`
	Capacity  int                 `json:"capacity"` // for this viewer, now, without extra messages
	// WindowSeconds is the time in which the whole capacity is restored. StepSeconds is the time in
	// which a bucket restores one message. It is 0 for windows, logs and cascades.
	WindowSeconds float64 `json:"window_seconds"`
	StepSeconds   float64 `json:"step_seconds"`
	Similar       bool    `json:"similar,omitempty"`  // similar messages count as the same one
	Everyone      bool    `json:"everyone,omitempty"` // everyone's copies of the message count together
}

// standing returns what a viewer may know about themselves in a channel. It doesn't make the Guard
// remember viewers who have never written.
func (h *viewers) standing(ctx context.Context, channel viewerChannel, v auth.Viewer, texts *language.Texts) (s viewerStanding, err error) {
	record, err := h.records.get(ctx, channel.id, v.ID)
	if err != nil {
		return s, err
	}
	now := h.guard.Now()
	e, err := limitinfo.Explain(ctx, h.guard, chatguard.Message{ChannelID: channel.id, User: chatguard.User{ID: v.ID, Roles: record.roles}, SentAt: now})
	if err != nil {
		return s, err
	}
	s = viewerStanding{
		Now: now.UTC(), Channel: channel.login, Login: v.Login, DisplayName: v.DisplayName, MayWrite: true,
		Exempt: e.Verdict.Exempt, Observing: channel.observing, RaidUntil: channel.raidUntil, Limits: []viewerLimit{}, SameText: []viewerRule{}, // never null in JSON
	}
	if !s.Exempt {
		s.addLimits(e, func(name string) string {
			return texts.LimitTitle(name, inner.Of(h.guard).Limit(channel.id, name).Title)
		})
		list, quotas := inner.TextLimits(h.guard, channel.id, record.roles)
		for i, q := range quotas {
			l := list[i]
			s.SameText = append(s.SameText, viewerRule{l.Name, texts.LimitTitle(l.Name, l.Title), l.Algorithm, q.Messages, q.Window.Seconds(), q.Step.Seconds(), l.Similar, l.Per == chatguard.PerText})
		}
	}
	if !e.Verdict.Allowed {
		s.addWait(e)
	}
	s.addSilence(h.silence(channel.id, v.ID, record, e, now))
	return s, nil
}

// addLimits adds the viewer's own limits that can throttle them. title returns what the viewer
// reads instead of a limit's name.
func (s *viewerStanding) addLimits(e limitinfo.Explanation, title func(name string) string) {
	for _, l := range e.Limits {
		if l.Observes || !inner.IsPersonal(l.Per) {
			continue
		}
		s.Limits = append(s.Limits, viewerLimit{
			viewerRule: viewerRule{Name: l.Name, Title: title(l.Name), Algorithm: l.Algorithm, Capacity: l.Capacity, WindowSeconds: l.Window.Seconds(), StepSeconds: l.Step.Seconds()},
			Everywhere: l.Per == chatguard.PerUserEverywhere, Granted: l.Granted, Used: l.Used, Remaining: l.Remaining, NextAt: l.NextAt, ResetAt: l.ResetAt,
		})
	}
}

// addWait says how long limits throttle the viewer. The end of a wait for a limit that everyone
// shares would say something about others, so it is left out.
func (s *viewerStanding) addWait(e limitinfo.Explanation) {
	s.MayWrite, s.Reason = false, reasonBusy
	for _, l := range s.Limits {
		if !l.NextAt.IsZero() && !l.NextAt.After(s.Now) {
			continue
		}
		if l.NextAt.IsZero() {
			s.Reason, s.Limit, s.NextAt, s.Never = reasonLimit, l.Name, time.Time{}, true
			return
		}
		if l.NextAt.After(s.NextAt) {
			s.Reason, s.Limit, s.NextAt = reasonLimit, l.Name, l.NextAt
		}
	}
}

// addSilence says how long a timeout or a ban keeps the viewer from writing, if it lasts longer
// than the wait for the limits.
func (s *viewerStanding) addSilence(banned bool, until time.Time) {
	switch {
	case banned:
		s.MayWrite, s.Reason, s.NextAt, s.Never, s.Limit = false, reasonBan, time.Time{}, false, ""
	case s.Never || !until.After(s.Now):
	case s.NextAt.After(until):
		s.MayWrite = false
	default:
		s.MayWrite, s.Reason, s.NextAt, s.Limit = false, reasonTimeout, until.UTC(), ""
	}
}

// silence returns a viewer's ban, or the end of their timeout, if one is known: from the chat, from
// the records before the start, or from chatguard's own penalty.
func (h *viewers) silence(channelID, userID string, record viewerRecord, e limitinfo.Explanation, now time.Time) (banned bool, until time.Time) {
	var known *journal.Silence
	if h.silences != nil {
		if s, ok := h.silences.Known(channelID, userID); ok {
			known = &s
		}
	}
	if known == nil {
		known = record.silence
	}
	switch {
	case known != nil && known.IsInForce(now):
		return known.Banned, known.Until
	case known != nil || record.lifted:
		return false, time.Time{}
	}
	return false, e.SilentUntil
}
