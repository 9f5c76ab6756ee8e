package chatguard

import (
	"maps"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/internal/sharing"
)

// Quotas implements inner.Guard.
func (g inner) Quotas(v *Verdict) *limits.Quotas {
	cs, policy, at := &g.channels, g.channels.basePolicy(), v.At.UnixNano()
	if v.Tightest == "" {
		return &noQuotas
	}
	var own [limits.MaxSets]map[string]limits.Numbers
	var table *limits.Table
	if c := cs.known.find(v.ChannelID); c != nil {
		policy, table = c.policy.Load(), c.table
	}
	if cs.exact {
		own[limits.PerUser] = cs.rows.KnownOverride(sharing.Key{ChannelID: v.ChannelID, UserID: v.UserID}, at).Numbers
		own[limits.PerUserEverywhere] = cs.rows.KnownOverride(sharing.Key{UserID: v.UserID}, at).Numbers
	} else {
		own[limits.PerUser], own[limits.PerUserEverywhere] = numbersOf(table, v.UserID, at), numbersOf(cs.everywhere.Load(), v.UserID, at)
	}
	if own[limits.PerUser] != nil || own[limits.PerUserEverywhere] != nil {
		return policy.sets.Quotas(v.roles, own, at)
	}
	return policy.quotasOf(v.roles, at)
}

var noQuotas limits.Quotas

// Granted implements inner.Guard.
func (g inner) Granted(v *Verdict) int { return v.granted }

// numbersOf returns a user's own numbers in a table, which may be nil.
func numbersOf(table *limits.Table, userID string, at int64) map[string]limits.Numbers {
	if table == nil || !table.HasOwn() {
		return nil
	}
	return table.OwnOf(userID, at).Numbers
}

// quotasOf returns the quotas of users with those roles and without their own numbers.
func (c *compiled) quotasOf(roles limits.Roles, at int64) *limits.Quotas {
	roles = c.sets.Choice(roles)
	if q := c.plainQuotas.Load(); roles.IsEmpty() && q != nil && q.IsValid(at) {
		return q // of nearly everyone
	}
	known := c.quotas.Load()
	q, ok := (*known)[roles]
	if ok && q.IsValid(at) {
		return q
	}
	q = c.sets.Quotas(roles, [limits.MaxSets]map[string]limits.Numbers{}, at)
	if ok || len(*known) < maxQuotas {
		changed := maps.Clone(*known)
		changed[roles] = q
		c.quotas.CompareAndSwap(known, &changed)
	}
	if roles.IsEmpty() {
		c.plainQuotas.Store(q)
	}
	return q
}

// maxQuotas is for how many choices of roles a policy keeps the quotas.
const maxQuotas = 256
