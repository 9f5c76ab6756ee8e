package main

import (
	"context"
	"slices"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// basePolicy is the configuration's policy of a channel.
func (a *app) basePolicy(id string) chatguard.Policy {
	return a.policies.Load().PolicyFor(a.logins.of(id), id)
}

// putPoliciesInForce makes the policies hold that channels have of their own, in the configuration or because they were changed live.
func (a *app) putPoliciesInForce(ctx context.Context) error {
	changed, err := a.liveChanges(ctx)
	if err != nil {
		return withoutDatabase(err)
	}
	a.changed.Store(&changed)
	a.meetAsked()
	ids, _ := unlisted(*a.policies.Load())
	ids = append(ids, a.logins.ids()...)
	for id := range changed {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		if err := a.putInForce(id, changed[id]); err != nil {
			return err
		}
	}
	return nil
}

// revisions are the latest changes of channels' policies, by channel ID.
type revisions map[string]journal.Revision

// liveChanges are the revisions in which moderators have changed policies.
func (a *app) liveChanges(ctx context.Context) (revisions, error) {
	current, err := a.store.CurrentRevisions(ctx)
	changed := revisions{}
	for _, r := range current {
		if len(r.Changes) > 0 {
			changed[r.ChannelID] = r
		}
	}
	return changed, err
}

// putInForce makes a channel's policy hold: the configuration's, with what was changed live over it, which is named.
func (a *app) putInForce(id string, r journal.Revision) error {
	base := a.basePolicy(id)
	policy, left := journal.Apply(base, r.Changes)
	if err := a.acceptable(id, policy); err != nil {
		a.log.Error("the policy in force can't be done; only observing", "channel", id, "problem", err)
		policy.Mode = chatguard.Observe
	}
	log := a.log.With("channel", id, "revision", r.Number, "author", r.Author)
	if err := a.guard.SetPolicy(id, policy, a.guard.Now()); err != nil {
		log.Error("what was changed live no longer fits the configuration, which holds instead", "problem", err)
		return a.guard.SetPolicy(id, base, a.guard.Now())
	}
	for _, c := range left {
		log.Warn("changed live, which no longer fits the configuration", "key", c.Key, "value", c.To)
	}
	if len(r.Changes) == 0 {
		return nil
	}
	for _, c := range journal.Diff(base, policy) {
		log.Info("changed live, and so not as configured", "key", c.Key, "value", c.To, "configured", c.From)
	}
	return nil
}
