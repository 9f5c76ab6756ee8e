package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/clock"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/policies"
)

// Switches are the temporary changes that override a channel's policy. In JSON they are the
// document that nodes share.
type Switches struct {
	// PausedBy is the person who paused the channel, which then only observes. It is empty if the
	// channel is not paused.
	PausedBy  string    `json:"paused_by,omitempty"`
	RaidUntil time.Time `json:"raid_until,omitzero"` // when raid mode ends; zero if it is off
	RaidBy    string    `json:"raid_by,omitempty"`   // who started it; empty if that isn't known
	// raidEnds is RaidUntil by the steady clock.
	raidEnds time.Time
	// Held is the reason why the channel can only observe, whatever the policy says. It is empty if
	// the channel can enforce. Each node has reasons of its own.
	Held string `json:"-"`
}

func (s *Switches) endRaid() { s.RaidUntil, s.RaidBy, s.raidEnds = time.Time{}, "", time.Time{} }

// The names of the settings that store switches.
const (
	pauseSetting   = "paused_by"
	raidSetting    = "raid_until"
	starterSetting = "raid_by"
)

// ChannelSwitches turns the switches of channels. It is safe for concurrent use.
type ChannelSwitches struct {
	overlays  *overlays
	records   *records
	shared    *policies.Shared
	documents *policies.DocumentKind
	// steady is the clock for the end of raid mode. It ignores steps of the wall clock.
	steady func() time.Time
	// changing is held while switches are changed on all nodes, so that nothing older comes into
	// force meanwhile.
	changing sync.Mutex
	storing  chan struct{} // holds a value while switches are stored
}

func newSwitches(over *overlays, records *records, shared *policies.Shared) *ChannelSwitches {
	c := &ChannelSwitches{overlays: over, records: records, shared: shared, steady: clock.Monotonic(), storing: make(chan struct{}, 1)}
	c.documents = shared.Add(&policies.DocumentKind{Prefix: "switches/", Apply: c.applyShared, Current: c.toShare, Changing: &c.changing})
	return c
}

// Of returns the switches that override the channel's policy.
func (c *ChannelSwitches) Of(channelID string) Switches { return c.overlays.switchesOf(channelID) }

// Pause makes a channel only observe until Resume is called, even after a restart.
func (c *ChannelSwitches) Pause(ctx context.Context, channelID, author string) (saved bool, err error) {
	pause := func(s *Switches) { s.PausedBy = author }
	return c.turnAndKeep(ctx, journal.Audit{Author: author, Action: journal.ChannelPaused, ChannelID: channelID}, pause)
}

// Resume ends a pause.
func (c *ChannelSwitches) Resume(ctx context.Context, channelID, author string) (saved bool, err error) {
	resume := func(s *Switches) { s.PausedBy = "" }
	return c.turnAndKeep(ctx, journal.Audit{Author: author, Action: journal.ChannelResumed, ChannelID: channelID}, resume)
}

// Hold makes a channel only observe while there is a reason. An empty reason ends the hold.
func (c *ChannelSwitches) Hold(channelID, reason string) error {
	return c.turn(channelID, func(s *Switches) { s.Held = reason })
}

// turn changes a channel's switches on this node.
func (c *ChannelSwitches) turn(channelID string, change func(*Switches)) error {
	changed, err := c.overlays.turn(channelID, change)
	if changed {
		c.records.followers.Notify(func(f policies.Follower) { f.Changed(channelID) })
	}
	return err
}

// turnAndKeep changes the switches of the audit's channel for its author, on all nodes.
func (c *ChannelSwitches) turnAndKeep(ctx context.Context, a journal.Audit, change func(*Switches)) (saved bool, err error) {
	if err := c.turnShared(ctx, a.ChannelID, change); err != nil {
		return false, c.records.failed(ctx, a, err)
	}
	return c.keep(ctx, a)
}

// keep stores a channel's current switches and adds the change to the audit.
func (c *ChannelSwitches) keep(ctx context.Context, a journal.Audit) (saved bool, err error) {
	c.tell(a.ChannelID, a.Author)
	if err := c.store(ctx, a.ChannelID); err != nil {
		return false, doneError{"a restart would undo it", c.records.trouble(err)}
	}
	return c.records.add(ctx, a) // also stores changes that were pending before
}

// tell logs a channel's switches and the author of the last change.
func (c *ChannelSwitches) tell(channelID, author string) {
	s := c.Of(channelID)
	values := []any{"channel", channelID}
	if s.PausedBy != "" {
		values = append(values, "paused_by", s.PausedBy)
	}
	if !s.RaidUntil.IsZero() {
		values = append(values, "raid_until", s.RaidUntil)
	}
	c.records.log.Info("channel switches", append(values, "author", author)...)
}

// store stores a channel's switches. Of concurrent changes, the last one is stored last.
func (c *ChannelSwitches) store(ctx context.Context, channelID string) error {
	ctx, cancel := policies.UntilKept(ctx)
	defer cancel()
	select {
	case c.storing <- struct{}{}:
		defer func() { <-c.storing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	s := c.Of(channelID)
	raidUntil := ""
	if !s.RaidUntil.IsZero() {
		raidUntil = s.RaidUntil.Format(time.RFC3339)
	}
	_, err := c.records.store.SaveSetting(ctx, channelID, pauseSetting, s.PausedBy)
	_, raidErr := c.records.store.SaveSetting(ctx, channelID, raidSetting, raidUntil)
	_, starterErr := c.records.store.SaveSetting(ctx, channelID, starterSetting, s.RaidBy)
	return errors.Join(err, raidErr, starterErr)
}

// restore loads stored switches.
func (c *ChannelSwitches) restore(channelID string, settings map[string]string) {
	var raidUntil time.Time
	if text := settings[raidSetting]; text != "" {
		var err error
		if raidUntil, err = time.Parse(time.RFC3339, text); err != nil {
			c.records.log.Error("the end of raid mode can't be read: raid mode is off", "channel", channelID, "error", err)
		}
	}
	err := c.turn(channelID, func(s *Switches) {
		s.PausedBy = settings[pauseSetting]
		if left := raidUntil.Sub(c.records.now()); left > 0 {
			s.RaidUntil, s.RaidBy, s.raidEnds = raidUntil, settings[starterSetting], c.steady().Add(left)
		}
	})
	if err != nil {
		c.records.log.Error("a channel's switches can't be applied", "channel", channelID, "error", err)
	}
	if c.Of(channelID) != (Switches{}) {
		c.tell(channelID, "as before the start")
	}
}

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

// set sets the switches to the state that another node has shared.
func (s *Switches) set(shared Switches, now, steady time.Time) {
	s.PausedBy = shared.PausedBy
	left := shared.RaidUntil.Sub(now)
	s.RaidBy = shared.RaidBy
	switch {
	case left <= 0:
		s.endRaid()
	case !s.RaidUntil.Equal(shared.RaidUntil):
		s.RaidUntil, s.raidEnds = shared.RaidUntil, steady.Add(left)
	}
}

// shareTries is how often a change of switches is tried, because another node may be faster.
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
