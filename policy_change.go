package chatguard

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/chatguard/chatguard/internal/limits"
)

// SetPolicy puts a policy in force in all channels without their own policy, and keeps every user's
// usage. The policy's PerUserEverywhere and PerEverywhere limits apply in all channels. A change
// from ModeObserve to ModeEnforce clears the strikes that were given while the policy observed.
// The error is that of Policy.Validate, or names a channel in which the policy isn't possible, for
// example because a limit there already has the name of a PerUserEverywhere limit. After an error,
// nothing is changed.
func (g *Guard) SetPolicy(policy Policy) error { return g.atNow().SetPolicy(policy) }

func (a guardAt) SetPolicy(policy Policy) error {
	ns, err := nanoseconds(a.at)
	if err != nil {
		return err
	}
	next, err := compile(policy)
	if err == nil {
		err = a.guard.channels.checkTextKey(next)
	}
	if err != nil {
		return err
	}
	a.guard.channels.changing.Lock()
	defer a.guard.channels.changing.Unlock()
	return a.guard.channels.setBase(next, ns)
}

// SetChannelPolicy gives one channel its own policy, and keeps every user's usage. The policy must
// have the same PerUserEverywhere and PerEverywhere limits as Guard.Policy. A change from
// ModeObserve to ModeEnforce clears the strikes that were given while the policy observed. The
// error is that of Policy.Validate, or ErrInvalid, or names a PerUserEverywhere or PerEverywhere
// limit, which a channel can't change. After an error, nothing is changed.
func (g *Guard) SetChannelPolicy(channelID string, policy Policy) error {
	return g.atNow().SetChannelPolicy(channelID, policy)
}

func (a guardAt) SetChannelPolicy(channelID string, policy Policy) error {
	ns, err := nanoseconds(a.at)
	if err != nil {
		return err
	}
	cs := &a.guard.channels
	cs.changing.Lock()
	defer cs.changing.Unlock()
	next, err := cs.compile(channelID, policy)
	if err != nil {
		return err
	}
	c := cs.get(channelID, a.at)
	changed, err := c.applyOverlay(next)
	if err != nil {
		return err
	}
	c.own = true
	cs.change(c, changed, &limits.Changes{At: ns})
	return nil
}

// compile checks a policy for a channel.
func (cs *channels) compile(channelID string, policy Policy) (*compiled, error) {
	if err := checkID(channelID, errNoChannel); err != nil {
		return nil, err
	}
	next, err := compile(policy)
	if err == nil {
		err = cs.checkTextKey(next)
	}
	if err != nil {
		return nil, err
	}
	if err := cs.basePolicy().policy.checkSameInAllChannels(policy); err != nil {
		return nil, fmt.Errorf("chatguard: %w", err)
	}
	return next, nil
}

// setBase puts a policy in force in all channels without their own policy, and its
// PerUserEverywhere and PerEverywhere limits in every channel.
func (cs *channels) setBase(base *compiled, at int64) error {
	next, err := cs.rebase(base)
	if err != nil {
		return err
	}
	changes := &limits.Changes{At: at}
	cs.changeOverall(base, changes)
	// Every new channel either has been added by now, or will start with the new policy.
	cs.adding.Lock()
	cs.base.Store(base)
	cs.adding.Unlock()
	cs.known.forEach(func(c *channel) {
		changed, ok := next[c]
		if !ok {
			changed = change{base, base}
		}
		cs.change(c, changed, changes)
	})
	return nil
}

// rebase returns the change that a new policy for all channels causes in each channel with its own
// policy or overlay.
func (cs *channels) rebase(base *compiled) (map[*channel]change, error) {
	next := map[*channel]change{}
	var failed error
	cs.known.forEach(func(c *channel) {
		if !c.own && c.overlay == nil {
			return
		}
		policy, err := c.rebase(base)
		if err == nil {
			next[c], err = c.applyOverlay(policy)
		}
		if err != nil {
			failed = fmt.Errorf("chatguard: channel %q: %w", c.id, err)
		}
	})
	return next, failed
}

// rebase returns this channel's policy after a change of the policy for all channels. If the
// channel has its own policy, rebase returns that policy, with its PerUserEverywhere and
// PerEverywhere limits replaced by those of base.
func (c *channel) rebase(base *compiled) (*compiled, error) {
	if !c.own {
		return base, nil
	}
	policy := c.stated.Load().policy.Clone()
	policy.Limits = slices.DeleteFunc(policy.Limits, func(l Limit) bool { return l.Per.inAllChannels() })
	for _, l := range base.policy.Limits {
		if l.Per.inAllChannels() {
			policy.Limits = append(policy.Limits, l)
		}
	}
	policy.adoptRoles(base)
	return compileHeld(policy, false)
}

// adoptRoles adds the roles of base's PerUserEverywhere and PerEverywhere limits to the policy's
// list of roles. If the policy has no list, it gets that of base, followed by the roles that only
// the policy names.
func (p *Policy) adoptRoles(base *compiled) {
	if len(p.Roles) == 0 {
		if p.Roles = slices.Clone(base.policy.Roles); len(p.Roles) == 0 {
			return
		}
		p.Roles = appendMissing(p.Roles, p.Exempt)
		for _, l := range p.Limits {
			p.Roles = appendMissing(p.Roles, slices.Sorted(maps.Keys(l.Roles)))
		}
	}
	for _, name := range base.roles.Names() {
		for _, l := range base.policy.allChannelLimits() {
			if _, ok := l.Roles[Role(name)]; ok {
				p.Roles = appendMissing(p.Roles, []Role{Role(name)})
			}
		}
	}
}

// appendMissing appends those of the names that the list lacks.
func appendMissing(list, names []Role) []Role {
	for _, name := range names {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// checkSameInAllChannels returns an error if the other policy has different PerUserEverywhere or
// PerEverywhere limits. The error names the first difference.
func (p *Policy) checkSameInAllChannels(other Policy) error {
	ours, theirs := p.allChannelLimits(), other.allChannelLimits()
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		if l, ok := theirs[name]; !ok || !l.equal(ours[name]) {
			return &PolicyError{Limit: name, Problem: "it applies to all channels, and can't be changed or left out in a single channel"}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(theirs)) {
		if _, ok := ours[name]; !ok {
			return &PolicyError{Limit: name, Parameter: "per", Value: theirs[name].Per.String(), Problem: "it applies to all channels, and can't be added in a single channel"}
		}
	}
	return nil
}

func (p *Policy) allChannelLimits() map[string]Limit {
	list := map[string]Limit{}
	for _, l := range p.Limits {
		if l.Per.inAllChannels() {
			list[l.Name] = l
		}
	}
	return list
}

func (l Limit) equal(other Limit) bool {
	same := maps.Equal(l.Roles, other.Roles)
	l.Roles, other.Roles = nil, nil
	return same && reflect.DeepEqual(l, other)
}

// SetOverlay implements inner.GuardAt.
func (a guardAt) SetOverlay(channelID string, overlay func(Policy) Policy) error {
	ns, err := nanoseconds(a.at)
	if err != nil {
		return err
	}
	if err := checkID(channelID, errNoChannel); err != nil {
		return err
	}
	cs := &a.guard.channels
	cs.changing.Lock()
	defer cs.changing.Unlock()
	c := cs.get(channelID, a.at)
	before := c.overlay
	c.overlay = overlay
	next, err := c.applyOverlay(c.stated.Load())
	if err != nil {
		c.overlay = before
		return err
	}
	cs.change(c, next, &limits.Changes{At: ns})
	return nil
}

// inForce returns the policy by which the messages of a channel are judged.
func (cs *channels) inForce(channelID string) *compiled {
	if c := cs.known.find(channelID); c != nil {
		return c.policy.Load()
	}
	return cs.basePolicy()
}

// change is a new policy in two forms: as stated, and as in force.
type change struct{ stated, inForce *compiled }

// applyOverlay returns the change for a stated policy, with the overlay applied.
func (c *channel) applyOverlay(stated *compiled) (change, error) {
	if c.overlay == nil {
		return change{stated, stated}, nil
	}
	overlaid := c.overlay(stated.policy.Clone())
	inForce, err := compileHeld(overlaid, stated.policy.Mode == ModeEnforce && overlaid.Mode == ModeObserve)
	if err == nil {
		err = stated.policy.checkSameInAllChannels(inForce.policy)
	}
	if err != nil {
		return change{}, fmt.Errorf("chatguard: with the overlay applied: %w", err)
	}
	return change{stated, inForce}, nil
}
