package chatguard

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// SetPolicy puts a policy in force in one channel, as of the time at, and keeps every user's usage.
// A change from Observe to Enforce clears the strikes that were given while the policy observed. An
// empty channel ID means all channels without their own policy. PerUserEverywhere limits can
// be changed only with an empty channel ID; a channel's own policy must keep them unchanged.
// SetPolicy returns the same errors as ValidatePolicy, or ErrTime. After an error, nothing is
// changed.
func (g *Guard) SetPolicy(channelID string, policy Policy, at time.Time) error {
	ns, err := nanoseconds(at)
	if err != nil {
		return err
	}
	g.changing.Lock()
	defer g.changing.Unlock()
	next, err := g.compile(channelID, policy)
	if err != nil {
		return err
	}
	if channelID == "" {
		return g.setBase(next, ns)
	}
	c := g.channels.get(channelID, g)
	changed, err := c.applyOverlay(next)
	if err != nil {
		return err
	}
	c.own = true
	c.change(changed, ns)
	return nil
}

// ValidatePolicy returns the error that SetPolicy would return for the policy now, and changes
// nothing. It returns the same errors as Validate, or ErrLongID. The error may also name a
// PerUserEverywhere limit that the channel can't change, or a channel that already uses the name of
// such a limit.
func (g *Guard) ValidatePolicy(channelID string, policy Policy) error {
	g.changing.Lock()
	defer g.changing.Unlock()
	next, err := g.compile(channelID, policy)
	switch c := g.channels.find(channelID); {
	case err != nil:
		return err
	case channelID == "":
		_, err = g.rebase(next)
	case c != nil:
		_, err = c.applyOverlay(next)
	}
	return err
}

// compile checks a policy for a channel. The empty ID means all channels without a policy of their
// own.
func (g *Guard) compile(channelID string, policy Policy) (*compiled, error) {
	next, err := compile(policy)
	switch {
	case err != nil || channelID == "":
		return next, err
	case len(channelID) > maxID:
		return nil, ErrLongID
	}
	return next, g.base.Load().policy.checkSameEverywhere(policy)
}

// setBase puts a policy in force in all channels without their own policy, and puts its
// PerUserEverywhere limits in force in all channels.
func (g *Guard) setBase(base *compiled, at int64) error {
	next, err := g.rebase(base)
	if err != nil {
		return err
	}
	changeTable(&g.everywhere, base.sets[limits.PerUserEverywhere], g.maxMemory, at)
	// Every new channel either has been added by now, or will start with the new policy.
	g.channels.adding.Lock()
	g.base.Store(base)
	g.channels.adding.Unlock()
	g.channels.forEach(func(c *channel) {
		if changed, ok := next[c]; ok {
			c.change(changed, at)
		} else {
			c.change(change{base, base}, at) // the channel was first seen in the meantime
		}
	})
	return nil
}

// rebase returns the change in each channel that a new policy for all channels causes.
func (g *Guard) rebase(base *compiled) (map[*channel]change, error) {
	next := map[*channel]change{}
	var failed error
	g.channels.forEach(func(c *channel) {
		policy, err := c.rebase(base)
		if err == nil {
			next[c], err = c.applyOverlay(policy)
		}
		if err != nil {
			failed = fmt.Errorf("channel %q: %w", c.id, err)
		}
	})
	return next, failed
}

// rebase returns this channel's policy after a change of the policy for all channels. If the
// channel has its own policy, rebase returns that policy with its PerUserEverywhere limits
// replaced.
func (c *channel) rebase(base *compiled) (*compiled, error) {
	if !c.own {
		return base, nil
	}
	policy := c.stated.Load().policy.Clone()
	policy.Limits = slices.DeleteFunc(policy.Limits, func(l Limit) bool { return l.Per == PerUserEverywhere })
	for _, l := range base.policy.Limits {
		if l.Per == PerUserEverywhere {
			policy.Limits = append(policy.Limits, l)
		}
	}
	return compile(policy)
}

// checkSameEverywhere returns an error if the other policy has different PerUserEverywhere limits.
// The error names the first difference.
func (p *Policy) checkSameEverywhere(other Policy) error {
	ours, theirs := p.everywhereLimits(), other.everywhereLimits()
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		if l, ok := theirs[name]; !ok || !l.equal(ours[name]) {
			return fmt.Errorf("limit %q applies to all channels: it can't be changed or left out in a single channel", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(theirs)) {
		if _, ok := ours[name]; !ok {
			return fmt.Errorf("limit %q applies to all channels: it can't be added in a single channel", name)
		}
	}
	return nil
}

func (p *Policy) everywhereLimits() map[string]Limit {
	list := map[string]Limit{}
	for _, l := range p.Limits {
		if l.Per == PerUserEverywhere {
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
