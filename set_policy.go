package chatguard

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// SetPolicy puts a policy in force in one channel, as of the moment at, and keeps what every user has spent. Going from Observe to Enforce
// clears the strikes that were given for practice. An empty channel ID means all channels that have no policy of their own. Only there can
// limits per user everywhere be changed: in a channel's own policy they have to be what they are. The error is ValidatePolicy's or ErrTime;
// then nothing is changed.
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
	changed, err := c.overlaid(next)
	if err != nil {
		return err
	}
	c.own = true
	c.change(changed, ns)
	return nil
}

// ValidatePolicy returns the error that SetPolicy would return for the policy now, and changes nothing: Validate's, ErrLongID, or one that
// names a limit per user everywhere, or the channel in which such a limit would take the name of another.
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
		_, err = c.overlaid(next)
	}
	return err
}

// compile checks a policy for a channel; the empty ID stands for all that have no policy of their own.
func (g *Guard) compile(channelID string, policy Policy) (*compiled, error) {
	next, err := compile(policy)
	switch {
	case err != nil || channelID == "":
		return next, err
	case len(channelID) > maxID:
		return nil, ErrLongID
	}
	return next, g.base.Load().policy.sameEverywhere(policy)
}

// setBase puts a policy in force in all channels that have none of their own, and its limits per user everywhere in all.
func (g *Guard) setBase(base *compiled, at int64) error {
	next, err := g.rebase(base)
	if err != nil {
		return err
	}
	changeTable(&g.everywhere, base.sets[limits.PerUserEverywhere], g.maxMemory, at)
	g.channels.adding.Lock() // whoever adds a channel has done so, or begins with the new policy
	g.base.Store(base)
	g.channels.adding.Unlock()
	g.channels.each(func(c *channel) {
		if changed, ok := next[c]; ok {
			c.change(changed, at)
		} else {
			c.change(change{base, base}, at) // it was seen first since
		}
	})
	return nil
}

// rebase returns what a policy made for all channels comes to in each.
func (g *Guard) rebase(base *compiled) (map[*channel]change, error) {
	next := map[*channel]change{}
	var failed error
	g.channels.each(func(c *channel) {
		policy, err := c.rebased(base)
		if err == nil {
			next[c], err = c.overlaid(policy)
		}
		if err != nil {
			failed = fmt.Errorf("channel %q: %w", c.id, err)
		}
	})
	return next, failed
}

// rebased returns what the policy made for all channels comes to in this one: where it has a policy of its own, that one with the limits per
// user everywhere replaced.
func (c *channel) rebased(base *compiled) (*compiled, error) {
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

// sameEverywhere returns an error that names the first limit per user everywhere in which another policy differs.
func (p *Policy) sameEverywhere(other Policy) error {
	ours, theirs := p.everywhere(), other.everywhere()
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		if l, ok := theirs[name]; !ok || !l.equal(ours[name]) {
			return fmt.Errorf("limit %q counts in all channels: it can't be changed or left out in one of them", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(theirs)) {
		if _, ok := ours[name]; !ok {
			return fmt.Errorf("limit %q counts in all channels: it can't be added in one of them", name)
		}
	}
	return nil
}

func (p *Policy) everywhere() map[string]Limit {
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
