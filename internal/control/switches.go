package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/policies"
)

// Switches are the temporary changes that override a channel's policy.
type Switches struct {
	// PausedBy is the person who paused the channel, which then only observes. It is empty if the
	// channel is not paused.
	PausedBy  string
	RaidUntil time.Time // when raid mode ends; zero if it is off
	// raidEnds is RaidUntil by the steady clock.
	raidEnds time.Time
	// Held is the reason why the channel can only observe, whatever the policy says. It is empty if
	// the channel can enforce.
	Held string
}

// The names of the settings that store switches.
const (
	pauseSetting = "paused_by"
	raidSetting  = "raid_until"
)

// Raid is the overlay of raid mode. Its zero value lasts ten minutes and changes nothing.
type Raid struct {
	Lasts Duration `json:"lasts"` // default duration; 0 means 10 min
	// StartRate is the number of messages per second at which raid mode starts by itself; 0 means
	// never.
	StartRate int `json:"start_rate"`
	// Burst and Refill are the token bucket that all users share. A Burst of 0 means that there is
	// none.
	Burst  int      `json:"channel_burst"`
	Refill Duration `json:"channel_refill"`
	// FirstTimerBurst and FirstTimerRefill are the numbers for users who write here for the first
	// time, in every token bucket per user. Numbers of 0 change nothing.
	FirstTimerBurst  int      `json:"first_timer_burst"`
	FirstTimerRefill Duration `json:"first_timer_refill"`
}

// lasts returns the default duration.
func (r Raid) lasts() time.Duration { return cmp.Or(time.Duration(r.Lasts), defaultRaid) }

// raidLimit is the name of the limit that all users share in raid mode.
const raidLimit = "raid"

// defaultRaid is the default duration of raid mode, and mostRaid the maximum.
const (
	defaultRaid = 10 * time.Minute
	mostRaid    = 24 * time.Hour
)

// Switches returns the switches that override the channel's policy.
func (c *Controls) Switches(channelID string) Switches {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.switches[channelID]
}

// Pause makes a channel only observe until Resume is called, even after a restart.
func (c *Controls) Pause(ctx context.Context, channelID, author string) (saved bool, err error) {
	pause := func(s *Switches) { s.PausedBy = author }
	return c.turnAndKeep(ctx, journal.Audit{Author: author, Action: journal.ChannelPaused, ChannelID: channelID}, pause)
}

// Resume ends a pause.
func (c *Controls) Resume(ctx context.Context, channelID, author string) (saved bool, err error) {
	resume := func(s *Switches) { s.PausedBy = "" }
	return c.turnAndKeep(ctx, journal.Audit{Author: author, Action: journal.ChannelResumed, ChannelID: channelID}, resume)
}

// StartRaid starts raid mode, which ends by itself, and returns the end. A length of 0 means the
// default duration; the maximum is a day.
func (c *Controls) StartRaid(ctx context.Context, channelID, author string, length time.Duration) (until time.Time, saved bool, err error) {
	settings, _ := c.Settings(channelID)
	length = cmp.Or(length, settings.Raid.lasts())
	if length < time.Second || length > mostRaid {
		return until, false, fmt.Errorf("raid mode lasts from 1 s to 24 h, not %s", chatguard.FormatDuration(length))
	}
	return c.raid(ctx, channelID, author, length, map[string]any{})
}

// raid starts raid mode. detail is the detail of the audit, without the end.
func (c *Controls) raid(ctx context.Context, channelID, author string, length time.Duration, detail map[string]any) (until time.Time, saved bool, err error) {
	until = c.now().Add(length).UTC().Truncate(time.Second)
	ends := c.steady().Add(length)
	if err := c.turnShared(ctx, channelID, func(s *Switches) { s.RaidUntil, s.raidEnds = until, ends }); err != nil {
		return until, false, err
	}
	detail["until"] = until
	saved, err = c.keep(ctx, journal.Audit{Author: author, Action: journal.RaidSwitched, ChannelID: channelID, Detail: detail})
	return until, saved, err
}

func (s *Switches) endRaid() { s.RaidUntil, s.raidEnds = time.Time{}, time.Time{} }

// EndRaid ends raid mode. For the default duration of raid mode, it doesn't start by itself again.
func (c *Controls) EndRaid(ctx context.Context, channelID, author string) (saved bool, err error) {
	c.calm(channelID)
	return c.turnAndKeep(ctx, journal.Audit{Author: author, Action: journal.RaidSwitched, ChannelID: channelID}, (*Switches).endRaid)
}

// Hold makes a channel only observe while there is a reason. An empty reason ends the hold.
func (c *Controls) Hold(channelID, reason string) error {
	return c.turn(channelID, func(s *Switches) { s.Held = reason })
}

// turn changes a channel's switches and puts them in force.
func (c *Controls) turn(channelID string, change func(*Switches)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.switches[channelID]
	after := before
	if change(&after); after == before {
		return nil
	}
	if err := c.overlayGuard(channelID, after); err != nil {
		return err
	}
	c.switches[channelID] = after
	c.options.Policies.Followers.Notify(func(f policies.Follower) { f.Changed(channelID) })
	return nil
}

// turnAndKeep changes the switches of the audit's channel for its author.
func (c *Controls) turnAndKeep(ctx context.Context, a journal.Audit, change func(*Switches)) (saved bool, err error) {
	if err := c.turnShared(ctx, a.ChannelID, change); err != nil {
		return false, err
	}
	return c.keep(ctx, a)
}

// keep stores a channel's current switches and adds the change to the audit.
func (c *Controls) keep(ctx context.Context, a journal.Audit) (saved bool, err error) {
	c.tell(a.ChannelID, a.Author)
	if err := c.store(ctx, a.ChannelID); err != nil {
		return false, doneError{"a restart would undo it", c.trouble(err)}
	}
	return c.record(ctx, a) // also stores changes that were pending before
}

// tell logs a channel's switches and the author of the last change.
func (c *Controls) tell(channelID, author string) {
	s := c.Switches(channelID)
	values := []any{"channel", channelID}
	if s.PausedBy != "" {
		values = append(values, "paused_by", s.PausedBy)
	}
	if !s.RaidUntil.IsZero() {
		values = append(values, "raid_until", s.RaidUntil)
	}
	c.log.Info("channel switches", append(values, "author", author)...)
}

// store stores a channel's switches. Of concurrent changes, the last one is stored last.
func (c *Controls) store(ctx context.Context, channelID string) error {
	ctx, cancel := policies.UntilKept(ctx)
	defer cancel()
	select {
	case c.storing <- struct{}{}:
		defer func() { <-c.storing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	s := c.Switches(channelID)
	raidUntil := ""
	if !s.RaidUntil.IsZero() {
		raidUntil = s.RaidUntil.Format(time.RFC3339)
	}
	_, err := c.options.Store.SaveSetting(ctx, channelID, pauseSetting, s.PausedBy)
	_, raidErr := c.options.Store.SaveSetting(ctx, channelID, raidSetting, raidUntil)
	return errors.Join(err, raidErr)
}

// recall loads stored switches.
func (c *Controls) recall(channelID string, settings map[string]string) {
	var raidUntil time.Time
	if text := settings[raidSetting]; text != "" {
		var err error
		if raidUntil, err = time.Parse(time.RFC3339, text); err != nil {
			c.log.Error("the end of raid mode can't be read: raid mode is off", "channel", channelID, "error", err)
		}
	}
	err := c.turn(channelID, func(s *Switches) {
		s.PausedBy = settings[pauseSetting]
		if left := raidUntil.Sub(c.now()); left > 0 {
			s.RaidUntil, s.raidEnds = raidUntil, c.steady().Add(left)
		}
	})
	if err != nil {
		c.log.Error("a channel's switches can't be applied", "channel", channelID, "error", err)
	}
	if c.Switches(channelID) != (Switches{}) {
		c.tell(channelID, "as before the start")
	}
}

// endRaids ends each raid mode whose time is over, unless it was started again in the meantime.
func (c *Controls) endRaids(ctx context.Context) {
	for channelID := range c.all() {
		ended := false
		err := c.turn(channelID, func(s *Switches) {
			if ended = !s.RaidUntil.IsZero() && !s.raidEnds.After(c.steady()); ended {
				s.endRaid()
			}
		})
		if err == nil && ended {
			_, err = c.keep(ctx, journal.Audit{Author: journal.ProgramAuthor, Action: journal.RaidSwitched, ChannelID: channelID})
		}
		if err != nil {
			c.log.Error("raid mode is over", "channel", channelID, "error", err)
		}
	}
}

// all returns the switches of every channel that has at least one switch on.
func (c *Controls) all() map[string]Switches {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.switches)
}

// overlayGuard puts a channel's switches in force with its settings. The caller holds mu.
func (c *Controls) overlayGuard(channelID string, s Switches) error {
	settings, _ := c.settingsOf(channelID)
	return c.guard.At(c.now()).SetOverlay(channelID, overlay(s, settings.Raid))
}

// overlay returns the effect of the switches on a policy, or nil if all are off.
func overlay(s Switches, raid Raid) func(chatguard.Policy) chatguard.Policy {
	if s == (Switches{}) {
		return nil
	}
	return func(p chatguard.Policy) chatguard.Policy {
		if s.PausedBy != "" || s.Held != "" {
			p.Mode = chatguard.Observe
		}
		if !s.RaidUntil.IsZero() {
			p = raid.over(p)
		}
		return p
	}
}

// over applies raid mode to a policy.
func (r Raid) over(p chatguard.Policy) chatguard.Policy {
	taken := false
	for i := range p.Limits {
		l := &p.Limits[i]
		taken = taken || l.Name == raidLimit
		if (l.Algorithm == chatguard.TokenBucket || l.Algorithm == chatguard.Cascade) && l.Per == chatguard.PerUser && (r.FirstTimerBurst > 0 || r.FirstTimerRefill > 0) {
			r.narrow(l)
		}
	}
	if r.Burst > 0 && !taken {
		shared := chatguard.TokenBucketLimit(raidLimit, r.Burst, time.Duration(r.Refill))
		shared.Per = chatguard.PerChannel
		p.Limits = append(p.Limits, shared)
	}
	return p
}

// narrow sets the first-timers' numbers in a limit, but never makes the limit looser. Numbers for
// the role Everyone would take precedence over the first-timers' numbers. So narrow first makes
// Everyone's numbers the limit's own numbers. Roles with their own numbers are not affected.
func (r Raid) narrow(l *chatguard.Limit) {
	if l.Roles == nil {
		l.Roles = map[chatguard.Role]chatguard.Override{}
	}
	for role, o := range l.Roles {
		l.Roles[role] = bucketNumbers(*l, o)
	}
	if everyone, ok := l.Roles[chatguard.Everyone]; ok {
		l.Burst, l.Refill, l.ExtraBurst, l.ExtraRefill = everyone.Burst, everyone.Refill, everyone.ExtraBurst, everyone.ExtraRefill
		delete(l.Roles, chatguard.Everyone)
	}
	newcomer, ok := l.Roles[chatguard.FirstTimer]
	if !ok {
		newcomer = bucketNumbers(*l, chatguard.Override{})
	}
	if r.FirstTimerBurst > 0 {
		newcomer.Burst = min(r.FirstTimerBurst, newcomer.Burst)
		l.Reserve = min(l.Reserve, newcomer.Burst-1) // a limit holds more than its reserve
		newcomer.ExtraBurst = min(r.FirstTimerBurst, newcomer.ExtraBurst)
	}
	newcomer.Refill = max(time.Duration(r.FirstTimerRefill), newcomer.Refill)
	if l.Algorithm == chatguard.Cascade {
		newcomer.ExtraRefill = max(time.Duration(r.FirstTimerRefill), newcomer.ExtraRefill)
	}
	l.Roles[chatguard.FirstTimer] = newcomer
}

// bucketNumbers returns all numbers of a token-bucket or a cascade for users with that override.
func bucketNumbers(l chatguard.Limit, o chatguard.Override) chatguard.Override {
	return chatguard.Override{
		Burst: cmp.Or(o.Burst, l.Burst), Refill: cmp.Or(o.Refill, l.Refill),
		ExtraBurst: cmp.Or(o.ExtraBurst, l.ExtraBurst), ExtraRefill: cmp.Or(o.ExtraRefill, l.ExtraRefill),
	}
}
