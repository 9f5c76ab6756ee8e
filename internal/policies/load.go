package policies

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
)

// Restore puts in force the base's policies for single channels. It adds the changes that people
// made before the start. It leaves out a revision that can't be used and logs it. The error is the
// Store's, or an Error about the base. Call Restore once, before Revise.
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
			p.live[r.ChannelID] = LiveChange{Revision: r}
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
	p.Followers.Notify(Follower.Reloaded)
	return err
}

func (p *Policies) rebase(base Base) error {
	channels := base.Channels()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.base = base
	if err := inner.At(p.options.Guard, p.now()).SetPolicy(base.Default()); err != nil {
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
			return &Error{err}
		}
	}
	return nil
}

// loadChannel puts a channel's policy in force: the base with people's changes on top. It logs
// these changes. The caller holds mu.
func (p *Policies) loadChannel(id string) error {
	live, changed := p.live[id]
	live = Resolve(id, p.baseOf(id), live.Revision, inner.Of(p.options.Guard).ValidateChannelPolicy, p.options.Acceptable)
	if changed {
		p.live[id] = live
	}
	p.logProblems(id, live)
	if p.base == nil {
		if live.Problem != nil {
			return nil // the program's policy is already in force
		}
		p.program.note(id, live.InForce)
	}
	if err := inner.At(p.options.Guard, p.now()).SetChannelPolicy(id, live.InForce); err != nil {
		return err
	}
	log := p.options.Log.With("channel", id, "revision", live.Number, "author", live.Author)
	for _, c := range live.Left {
		log.Warn("a live change no longer fits the "+p.origin+"'s policy", "key", c.Key, "value", valueDetail(c.To))
	}
	for _, c := range live.Difference {
		log.Info("changed live, differs from the configuration", "key", c.Key, "value", valueDetail(c.To), "configured", valueDetail(c.From))
	}
	return nil
}

// valueDetail returns the value of a change for the log. A whole list is shortened.
func valueDetail(value any) string { return hostile.Detail(journal.ValueText(value)) }

// logProblems logs why a channel doesn't have the policy that people wanted.
func (p *Policies) logProblems(id string, live LiveChange) {
	if live.Unacceptable != nil {
		p.options.Log.Error("the policy in force can't be carried out; only observing", "channel", id, "problem", live.Unacceptable)
	}
	if live.Problem == nil {
		return
	}
	about := []any{"channel", id, "revision", live.Number, "author", live.Author, "problem", live.Problem}
	if p.options.Fix != nil {
		about = append(about, "fix", p.options.Fix(id))
	}
	p.options.Log.Error("live changes can't be used; the "+p.origin+"'s policy applies", about...)
}

// LiveChange is people's last change to a channel's policy, and the policy that results.
type LiveChange struct {
	journal.Revision
	InForce    chatguard.Policy // the base if the revision can't be used
	Difference []journal.Change // people's changes that are in force, compared with the base
	Left       []journal.Change // changes of the revision that no longer fit the base
	Problem    error            // why the revision can't be used; nil if it can

	// Unacceptable is why the channel can't have the policy here. InForce then only observes.
	Unacceptable error
}

// Resolve returns a channel's policy in force: base with the changes of r applied. valid returns an
// error if the Guard refuses a policy, and then r isn't used. acceptable is as in Options, but must
// not be nil.
func Resolve(
	channelID string, base chatguard.Policy, r journal.Revision, valid, acceptable func(channelID string, p chatguard.Policy) error,
) LiveChange {
	live := LiveChange{Revision: r, InForce: base, Problem: r.Unreadable}
	if len(r.Changes) > 0 && live.Problem == nil {
		live.Problem = r.Policy.Validate() // once, because there may be very many changes
	}
	if len(r.Changes) > 0 && live.Problem == nil {
		policy, left := applyAll(base, r.Changes)
		if live.Problem = valid(channelID, policy); live.Problem == nil {
			live.InForce, live.Left, live.Difference = policy, left, Diff(base, policy)
		}
	}
	if live.Unacceptable = acceptable(channelID, live.InForce); live.Unacceptable != nil {
		live.InForce.Mode = chatguard.ModeObserve
		live.Difference = slices.DeleteFunc(live.Difference, func(c journal.Change) bool { return c.Key == modeKey })
	}
	return live
}

// LiveChanges returns people's changes to the policies of channels, sorted by channel ID.
func (p *Policies) LiveChanges() (list []LiveChange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(p.live)) {
		list = append(list, p.live[id])
	}
	return list
}

// LeftOut returns the revisions that can't be used, sorted by channel ID. Their channels have the
// base's policy.
func (p *Policies) LeftOut() []LiveChange {
	return slices.DeleteFunc(p.LiveChanges(), func(c LiveChange) bool { return c.Problem == nil })
}
