package chatguard

import (
	"fmt"
	"time"
)

// SetOverlay lays something over the policy of a channel for as long as it stays there, as of the moment at: what is in force is what overlay
// makes of the policy, now and whenever SetPolicy changes it. It is for what passes: a pause, a raid. As with any change, what was used stays
// used. Where an overlay makes an enforcing policy observe, strikes stay as they are until it enforces again. A nil overlay takes it away. The overlay must return the same for the same policy,
// keep limits per user everywhere as they are, and change nothing but what it returns; it gets a copy.
//
// The error is ErrNoChannel, ErrLongID, ErrTime, or names what is wrong with the overlaid policy; then nothing is changed.
func (g *Guard) SetOverlay(channelID string, overlay func(Policy) Policy, at time.Time) error {
	ns, err := nanoseconds(at)
	if err != nil {
		return err
	}
	if err := checkID(channelID, ErrNoChannel); err != nil {
		return err
	}
	g.changing.Lock()
	defer g.changing.Unlock()
	c := g.channels.get(channelID, g)
	before := c.overlay
	c.overlay = overlay
	next, err := c.overlaid(c.stated.Load())
	if err != nil {
		c.overlay = before
		return err
	}
	c.change(next, ns)
	return nil
}

// InForce returns the policy that a channel's messages are judged by: Policy, with what is laid over it.
func (g *Guard) InForce(channelID string) Policy {
	if c := g.channels.find(channelID); c != nil {
		return c.policy.Load().policy.Clone()
	}
	return g.base.Load().policy.Clone()
}

// change is a policy as it was stated, and as it is in force.
type change struct{ stated, inForce *compiled }

// overlaid returns the change that stating a policy comes to.
func (c *channel) overlaid(stated *compiled) (change, error) {
	if c.overlay == nil {
		return change{stated, stated}, nil
	}
	overlaid := c.overlay(stated.policy.Clone())
	inForce, err := compileHeld(overlaid, stated.policy.Mode == Enforce && overlaid.Mode == Observe)
	if err == nil {
		err = stated.policy.sameEverywhere(inForce.policy)
	}
	if err != nil {
		return change{}, fmt.Errorf("with what is laid over the policy: %w", err)
	}
	return change{stated, inForce}, nil
}
