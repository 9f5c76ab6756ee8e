package control

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// Restore puts the base's policies for single channels in force, with the changes that people made
// before the start. It leaves out a revision that can't be used and logs it. The error is the
// Store's, or a PolicyError about the base. Call Restore once, before Revise.
func (p *Policies) Restore(ctx context.Context) error {
	current, err := p.options.Store.CurrentRevisions(ctx)
	if err != nil {
		return err
	}
	var channels []string
	if p.base != nil {
		channels = p.base.Channels()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range current {
		if !r.IsEmpty() {
			p.live[r.ChannelID] = r
		}
	}
	return p.load(channels)
}

// Reload puts another base in force, with people's changes on top, and then calls accept. If the
// base can't be put in force or accept returns an error, the previous base is in force again, and
// the error says why. No policy can be changed meanwhile, so accept must not change one. The
// followers are notified in any case, because part of the new base may have been in force.
func (p *Policies) Reload(base Base, accept func() error) error {
	p.changing.Lock()
	defer p.changing.Unlock()
	before := p.base
	err := p.rebase(base)
	if err == nil {
		err = accept()
	}
	if err != nil && before != nil {
		err = errors.Join(err, p.rebase(before))
	}
	p.notify(Follower.Reloaded)
	return err
}

func (p *Policies) rebase(base Base) error {
	channels := base.Channels()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.base = base
	if err := p.options.Guard.SetPolicy("", base.Default(), p.options.Now()); err != nil {
		return err
	}
	return p.load(channels)
}

// Enter puts a channel's own policy in force. Call it once the channel's ID is known.
func (p *Policies) Enter(channelID string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.loadChannel(channelID)
}

// load puts in force the policies of the given channels, and of all channels whose policy people
// have changed. The caller holds mu.
func (p *Policies) load(channels []string) error {
	ids := slices.Sorted(slices.Values(slices.AppendSeq(channels, maps.Keys(p.live))))
	for _, id := range slices.Compact(ids) {
		if err := p.loadChannel(id); err != nil {
			return &PolicyError{err}
		}
	}
	return nil
}

// loadChannel puts a channel's policy in force: the base with people's changes on top. It logs
// these changes. It leaves out a revision that can't be used. The caller holds mu.
func (p *Policies) loadChannel(id string) error {
	r, base := p.live[id], p.baseOf(id)
	policy, left, unusable := Apply(base, r)
	log := p.options.Log.With("channel", id, "revision", r.Number, "author", r.Author)
	delete(p.leftOut, id)
	if unusable != nil {
		p.leaveOut(id, unusable, log)
	}
	if p.base == nil {
		if unusable != nil {
			return nil // the program's policy is already in force
		}
		p.given.note(id, policy)
	}
	if err := p.options.Guard.SetPolicy(id, p.accepted(id, policy), p.options.Now()); err != nil {
		log.Error("live changes no longer fit the "+p.origin+"'s policy, which applies instead", "problem", err)
		if p.base == nil {
			p.given.forget(id)
			return nil
		}
		return p.options.Guard.SetPolicy(id, base, p.options.Now())
	}
	for _, c := range left {
		log.Warn("a live change no longer fits the "+p.origin+"'s policy", "key", c.Key, "value", c.To)
	}
	if len(r.Changes) == 0 {
		return nil
	}
	for _, c := range Diff(base, policy) {
		log.Info("changed live, differs from the configuration", "key", c.Key, "value", c.To, "configured", c.From)
	}
	return nil
}

// accepted returns the policy. If the channel can't have it here, the returned policy only
// observes.
func (p *Policies) accepted(id string, policy chatguard.Policy) chatguard.Policy {
	if p.options.Acceptable == nil {
		return policy
	}
	if err := p.options.Acceptable(id, policy); err != nil {
		p.options.Log.Error("the policy in force can't be carried out; only observing", "channel", id, "problem", err)
		policy.Mode = chatguard.Observe
	}
	return policy
}

func (p *Policies) leaveOut(id string, problem error, log *slog.Logger) {
	p.leftOut[id] = LiveChange{Revision: p.live[id], Problem: problem}
	about := []any{"problem", problem}
	if p.options.Fix != nil {
		about = append(about, "fix", p.options.Fix(id))
	}
	log.Error("live changes can't be used; the "+p.origin+"'s policy applies", about...)
}

// LiveChange is people's change to a channel's policy.
type LiveChange struct {
	journal.Revision
	Difference []journal.Change // resulting differences from the base
	Problem    error            // why the revision can't be used; nil if it can
}

// LiveChanges returns people's changes to the policies of channels, sorted by channel ID.
func (p *Policies) LiveChanges() (list []LiveChange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(p.live)) {
		base := p.baseOf(id)
		policy, _, err := Apply(base, p.live[id])
		list = append(list, LiveChange{p.live[id], Diff(base, policy), err})
	}
	return list
}

// LeftOut returns the revisions that can't be used, sorted by channel ID. Their channels have the
// base's policy.
func (p *Policies) LeftOut() (list []LiveChange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(p.leftOut)) {
		list = append(list, p.leftOut[id])
	}
	return list
}
