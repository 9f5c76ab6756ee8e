package chatguard

import (
	"fmt"

	"github.com/chatguard/chatguard/internal/limits"
)

// SetOverlay sets an overlay on the policy of a channel. The overlay receives the channel's policy,
// as Guard.ChannelPolicy returns it, and returns the policy to judge by. The Guard
// calls the overlay now and after each SetPolicy. Use it for temporary states such as a pause or a
// raid. As with any change, recorded usage is kept. If an overlay makes an enforcing policy
// observe, strikes stay as they are until the policy enforces again. A nil overlay removes the
// current one. The overlay may modify the policy that it receives, which is a copy. It must return
// the same result for the same policy, leave PerUserEverywhere limits unchanged, and have no side
// effects.
//
// The error is ErrNoChannel, ErrLongID or ErrTime, or names the mistake in the overlaid policy.
// After an error, nothing is changed.
func (g *Guard) SetOverlay(channelID string, overlay func(Policy) Policy) error {
	return g.atNow().SetOverlay(channelID, overlay)
}

// SetOverlay is Guard.SetOverlay as of that time.
func (a GuardAt) SetOverlay(channelID string, overlay func(Policy) Policy) error {
	ns, err := nanoseconds(a.at)
	if err != nil {
		return err
	}
	if err := checkID(channelID, ErrNoChannel); err != nil {
		return err
	}
	g := a.guard
	g.changing.Lock()
	defer g.changing.Unlock()
	c := g.channels.get(channelID, g, a.at)
	before := c.overlay
	c.overlay = overlay
	next, err := c.applyOverlay(c.stated.Load())
	if err != nil {
		c.overlay = before
		return err
	}
	g.change(c, next, &limits.Changes{At: ns})
	return nil
}

// InForce returns the policy by which the Guard judges a channel's messages. It is the result of
// ChannelPolicy with the overlay applied.
func (g *Guard) InForce(channelID string) Policy {
	if c := g.channels.find(channelID); c != nil {
		return c.policy.Load().policy.Clone()
	}
	return g.base.Load().policy.Clone()
}

// change is a new policy in two forms: as stated, and as in force.
type change struct{ stated, inForce *compiled }

// applyOverlay returns the change for a stated policy, with the overlay applied.
func (c *channel) applyOverlay(stated *compiled) (change, error) {
	if c.overlay == nil {
		return change{stated, stated}, nil
	}
	overlaid := c.overlay(stated.policy.Clone())
	inForce, err := compileHeld(overlaid, stated.policy.Mode == Enforce && overlaid.Mode == Observe)
	if err == nil {
		err = stated.policy.checkSameEverywhere(inForce.policy)
	}
	if err != nil {
		return change{}, fmt.Errorf("chatguard: with the overlay applied: %w", err)
	}
	return change{stated, inForce}, nil
}
