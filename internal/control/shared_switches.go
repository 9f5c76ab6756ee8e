package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/chatguard/chatguard/internal/policies"
)

// applyShared puts in force the switches that another node has shared.
func (c *ChannelSwitches) applyShared(ctx context.Context, channelID string, data []byte) error {
	var shared Switches
	if err := json.Unmarshal(data, &shared); err != nil {
		return fmt.Errorf("the switches that another node has shared for channel %q can't be read: %w", channelID, err)
	}
	before := c.Of(channelID)
	if err := c.turn(channelID, func(s *Switches) { s.set(shared, c.records.now(), c.steady()) }); err != nil {
		return err
	}
	if before != c.Of(channelID) {
		c.tell(channelID, "another node")
		if err := c.store(ctx, channelID); err != nil {
			c.records.trouble(err) // a restart asks the other nodes again
		}
	}
	return nil
}

// toShare returns the switches in force here, if any is on or the document is lost.
func (c *ChannelSwitches) toShare(channelID string, isLost bool) (shared any, ok bool) {
	s := c.Of(channelID)
	return s, isLost || s.PausedBy != "" || !s.RaidUntil.IsZero()
}

// set turns the switches as another node has shared them.
func (s *Switches) set(shared Switches, now, steady time.Time) {
	s.PausedBy = shared.PausedBy
	left := shared.RaidUntil.Sub(now)
	switch {
	case left <= 0:
		s.endRaid()
	case !s.RaidUntil.Equal(shared.RaidUntil):
		s.RaidUntil, s.raidEnds = shared.RaidUntil, steady.Add(left)
	}
}

// shareTries is how often a change of switches is tried again because another node was faster.
const shareTries = 5

// turnShared changes a channel's switches on all nodes.
func (c *ChannelSwitches) turnShared(ctx context.Context, channelID string, change func(*Switches)) error {
	c.changing.Lock()
	defer c.changing.Unlock()
	for range shareTries {
		revision, err := c.shared.Follow(ctx, c.documents, channelID)
		if err == nil {
			after := c.Of(channelID)
			change(&after)
			err = c.shared.Set(ctx, c.documents, channelID, after, revision)
		}
		switch {
		case err == nil:
			return c.turn(channelID, change)
		case !errors.Is(err, policies.ErrStale):
			return policies.NotShared(err)
		}
	}
	return policies.ErrStale
}
