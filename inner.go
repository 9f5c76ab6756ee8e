package chatguard

import (
	"context"
	"slices"
	"time"

	"github.com/chatguard/chatguard/internal/inner/hook"
	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/internal/sharing"
)

// inner has the methods of a Guard that other packages of this module need, and that the API
// doesn't promise. They reach it as an inner.Guard, through package internal/inner.
type inner struct{ *Guard }

func init() {
	hook.Inner = func(guard any) any { return inner{guard.(*Guard)} }
	hook.At = func(guard any, at time.Time) any { return guard.(*Guard).at(at) }
	hook.Compile = func(policy any) (sets limits.Sets, err error) {
		c, err := compile(policy.(Policy))
		if err == nil {
			sets = c.sets
		}
		return sets, err
	}
}

// CheckInto implements inner.Guard.
func (g inner) CheckInto(ctx context.Context, m Message, v *Verdict) error {
	_, err := g.check(ctx, &m, v, whole)
	return err
}

// IsExempt implements inner.Guard.
func (g inner) IsExempt(m Message) bool {
	at := m.SentAt
	if at.IsZero() {
		at = g.Now()
	}
	var q limits.Request
	if m.fillRequest(&q, instant(at), g.channels.inForce(m.ChannelID)) != nil {
		return false
	}
	var own limits.Own
	if g.channels.exact {
		own = g.channels.rows.KnownOverride(sharing.Key{ChannelID: m.ChannelID, UserID: m.User.ID}, q.At)
	} else if c := g.channels.known.find(m.ChannelID); c != nil && c.table.HasOwn() {
		own = c.table.OwnOf(m.User.ID, q.At)
	}
	return own.IsExempt(q.Exempt, q.At)
}

// ReadsTexts implements inner.Guard.
func (g inner) ReadsTexts(channelID string) bool {
	return len(g.channels.inForce(channelID).sets.Texts()) > 0
}

// TextQuotas implements inner.Guard.
func (g inner) TextQuotas(channelID string, roles Roles) (Policy, []limits.Quota) {
	c := g.channels.inForce(channelID)
	known := c.roles.Everyone()
	for _, role := range roles {
		known = known.With(string(role))
	}
	return c.policy.Clone(), c.sets.TextQuotas(known, instant(g.Now()))
}

// Hashes implements inner.Guard.
func (g inner) Hashes(p TextPrint) [2][16]byte { return [2][16]byte{p.exact, p.similar} }

// KnowsRole implements inner.Guard.
func (g inner) KnowsRole(channelID string, r Role) bool {
	return r == RoleEveryone || g.channels.inForce(channelID).roles.Has(string(r))
}

// KnowsKind implements inner.Guard.
func (g inner) KnowsKind(channelID, kind string) bool {
	return slices.Contains(g.channels.inForce(channelID).policy.ExemptKinds, kind)
}

// ValidateChannelPolicy implements inner.Guard.
func (g inner) ValidateChannelPolicy(channelID string, policy Policy) error {
	g.channels.changing.Lock()
	defer g.channels.changing.Unlock()
	next, err := g.channels.compile(channelID, policy)
	if err != nil {
		return err
	}
	if c := g.channels.known.find(channelID); c != nil {
		_, err = c.applyOverlay(next)
	}
	return err
}

// InForce implements inner.Guard.
func (g inner) InForce(channelID string) Policy {
	return g.channels.inForce(channelID).policy.Clone()
}

// Mode implements inner.Guard.
func (g inner) Mode(channelID string) Mode { return g.channels.inForce(channelID).policy.Mode }

// Limit implements inner.Guard.
func (g inner) Limit(channelID, name string) (l Limit) {
	list := g.channels.inForce(channelID).policy.Limits
	if i := slices.IndexFunc(list, func(l Limit) bool { return l.Name == name }); i >= 0 {
		l = list[i]
	}
	return l
}

// Timezone implements inner.Guard.
func (g inner) Timezone(channelID string) string {
	return g.channels.inForce(channelID).policy.Timezone
}
