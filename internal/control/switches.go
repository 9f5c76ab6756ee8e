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
)

// Switches are what holds in a channel over its policy.
type Switches struct {
	PausedBy  string    // who paused it: it only observes; empty while it isn't paused
	RaidUntil time.Time // until when raid mode lasts; zero without
	raidEnds  time.Time // the same by the clock that steps don't change
	Held      string    // why it can only observe, whatever the policy says; empty where it can enforce
}

// The names of the settings that switches are kept as.
const (
	pauseSetting = "paused_by"
	raidSetting  = "raid_until"
)

// Raid is what raid mode lays over a policy. Its zero value only lasts for ten minutes and changes nothing.
type Raid struct {
	Lasts      time.Duration      // where nobody says how long; 0 means 10 min
	Everyone   chatguard.Limit    // an additional limit for everyone together; none without a name
	FirstTimer chatguard.Override // the numbers of those who write here for the first time, in every token-bucket of each user
}

// defaultRaid is how long raid mode lasts where nothing says otherwise, and mostRaid how long at most.
const (
	defaultRaid = 10 * time.Minute
	mostRaid    = 24 * time.Hour
)

// Switches returns what holds in a channel over its policy.
func (c *Controls) Switches(channelID string) Switches {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.switches[channelID]
}

// Pause makes a channel observe until it is resumed, beyond a restart too.
func (c *Controls) Pause(ctx context.Context, channelID, author string) (saved bool, err error) {
	if err := c.turn(channelID, func(s *Switches) { s.PausedBy = author }); err != nil {
		return false, err
	}
	return c.keep(ctx, journal.Audit{Author: author, Action: journal.ChannelPaused, ChannelID: channelID})
}

// Resume ends a pause.
func (c *Controls) Resume(ctx context.Context, channelID, author string) (saved bool, err error) {
	if err := c.turn(channelID, func(s *Switches) { s.PausedBy = "" }); err != nil {
		return false, err
	}
	return c.keep(ctx, journal.Audit{Author: author, Action: journal.ChannelResumed, ChannelID: channelID})
}

// StartRaid begins raid mode, which ends by itself; 0 lets it last as long as is usual, and a day is the most. It returns when it ends.
func (c *Controls) StartRaid(ctx context.Context, channelID, author string, length time.Duration) (until time.Time, saved bool, err error) {
	if length == 0 {
		length = c.options.Raid.length()
	}
	if length < time.Second || length > mostRaid {
		return until, false, fmt.Errorf("raid mode lasts from 1 s to 24 h, not %s", length)
	}
	until = c.options.Now().Add(length).UTC().Truncate(time.Second)
	ends := c.steady().Add(length)
	if err := c.turn(channelID, func(s *Switches) { s.RaidUntil, s.raidEnds = until, ends }); err != nil {
		return until, false, err
	}
	saved, err = c.keep(ctx, journal.Audit{
		Author: author, Action: journal.RaidSwitched, ChannelID: channelID, Detail: map[string]any{"until": until},
	})
	return until, saved, err
}

func (s *Switches) endRaid() { s.RaidUntil, s.raidEnds = time.Time{}, time.Time{} }

func (r Raid) length() time.Duration {
	if r.Lasts == 0 {
		return defaultRaid
	}
	return r.Lasts
}

// EndRaid ends raid mode.
func (c *Controls) EndRaid(ctx context.Context, channelID, author string) (saved bool, err error) {
	if err := c.turn(channelID, func(s *Switches) { s.endRaid() }); err != nil {
		return false, err
	}
	return c.keep(ctx, journal.Audit{Author: author, Action: journal.RaidSwitched, ChannelID: channelID})
}

// Hold makes a channel observe for as long as there is a reason; an empty one lets it do what its policy says.
func (c *Controls) Hold(channelID, reason string) error {
	return c.turn(channelID, func(s *Switches) { s.Held = reason })
}

// turn changes a channel's switches and brings them into force.
func (c *Controls) turn(channelID string, change func(*Switches)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.switches[channelID]
	after := before
	if change(&after); after == before {
		return nil
	}
	if err := c.options.Guard.SetOverlay(channelID, c.overlay(after), c.options.Now()); err != nil {
		return err
	}
	c.switches[channelID] = after
	c.options.Changed(channelID)
	return nil
}

// keep stores a channel's switches as they are by now, and notes in the audit who turned one.
func (c *Controls) keep(ctx context.Context, a journal.Audit) (saved bool, err error) {
	c.tell(a.ChannelID, a.Author)
	if err := c.store(ctx, a.ChannelID); err != nil {
		return false, doneError{"a restart would undo it", c.trouble(err)}
	}
	return c.record(ctx, a) // what waited before it is stored with it
}

// tell logs what a channel's switches are, and who turned them last.
func (c *Controls) tell(channelID, author string) {
	s := c.Switches(channelID)
	c.options.Log.Info("what holds over the policy", "channel", channelID, "paused_by", s.PausedBy, "raid_until", s.RaidUntil, "author", author)
}

// store stores a channel's switches. Of two who turn one at once, the one whose turn came last is stored last.
func (c *Controls) store(ctx context.Context, channelID string) error {
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

// recall takes up switches that were kept.
func (c *Controls) recall(channelID string, settings map[string]string) {
	var raidUntil time.Time
	if text := settings[raidSetting]; text != "" {
		var err error
		if raidUntil, err = time.Parse(time.RFC3339, text); err != nil {
			c.options.Log.Error("until when raid mode lasts can't be read: it is off", "channel", channelID, "error", err)
		}
	}
	err := c.turn(channelID, func(s *Switches) {
		s.PausedBy = settings[pauseSetting]
		if left := raidUntil.Sub(c.options.Now()); left > 0 {
			s.RaidUntil, s.raidEnds = raidUntil, c.steady().Add(left)
		}
	})
	if err != nil {
		c.options.Log.Error("a channel's switches can't be brought into force", "channel", channelID, "error", err)
	}
	if c.Switches(channelID) != (Switches{}) {
		c.tell(channelID, "as before the start")
	}
}

// endRaids ends raid mode where its time is over, unless somebody has begun it anew meanwhile.
func (c *Controls) endRaids(ctx context.Context) {
	for channelID := range c.all() {
		ended := false
		err := c.turn(channelID, func(s *Switches) {
			if ended = !s.RaidUntil.IsZero() && !s.raidEnds.After(c.steady()); ended {
				s.endRaid()
			}
		})
		if err == nil && ended {
			_, err = c.keep(ctx, journal.Audit{Author: "chatguard", Action: journal.RaidSwitched, ChannelID: channelID})
		}
		if err != nil {
			c.options.Log.Error("raid mode is over", "channel", channelID, "error", err)
		}
	}
}

// all returns the switches of every channel that has any.
func (c *Controls) all() map[string]Switches {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.switches)
}

// overlay is what the switches lay over a policy; nil where they are all off.
func (c *Controls) overlay(s Switches) func(chatguard.Policy) chatguard.Policy {
	if s == (Switches{}) {
		return nil
	}
	raid := c.options.Raid
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

// over lays raid mode over a policy.
func (r Raid) over(p chatguard.Policy) chatguard.Policy {
	taken := false
	for i := range p.Limits {
		l := &p.Limits[i]
		taken = taken || l.Name == r.Everyone.Name
		if l.Algorithm == chatguard.TokenBucket && l.Per == chatguard.PerUser && r.FirstTimer != (chatguard.Override{}) {
			r.narrow(l)
		}
	}
	if r.Everyone.Name != "" && !taken {
		p.Limits = append(p.Limits, r.Everyone)
	}
	return p
}

// narrow gives first-timers numbers of their own in a limit, nowhere looser than those they had. What everyone has would beat them, and so becomes the
// limit's own, which changes nothing for roles with numbers of theirs.
func (r Raid) narrow(l *chatguard.Limit) {
	if l.Roles == nil {
		l.Roles = map[chatguard.Role]chatguard.Override{}
	}
	for role, o := range l.Roles {
		l.Roles[role] = chatguard.Override{Burst: cmp.Or(o.Burst, l.Burst), Refill: cmp.Or(o.Refill, l.Refill)}
	}
	if everyone, ok := l.Roles[chatguard.Everyone]; ok {
		l.Burst, l.Refill = everyone.Burst, everyone.Refill
		delete(l.Roles, chatguard.Everyone)
	}
	newcomer, ok := l.Roles[chatguard.FirstTimer]
	if !ok {
		newcomer = chatguard.Override{Burst: l.Burst, Refill: l.Refill}
	}
	l.Roles[chatguard.FirstTimer] = chatguard.Override{
		Burst: min(cmp.Or(r.FirstTimer.Burst, newcomer.Burst), newcomer.Burst), Refill: max(r.FirstTimer.Refill, newcomer.Refill),
	}
}
