package control

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/durations"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/roles"
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
	// time, in every token bucket and cascade per user. Numbers of 0 change nothing.
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
		l.Roles[role] = inner.NumbersOf(*l, o)
	}
	if everyone, ok := l.Roles[chatguard.RoleEveryone]; ok {
		l.Burst, l.Refill, l.ExtraBurst, l.ExtraRefill = everyone.Burst, everyone.Refill, everyone.ExtraBurst, everyone.ExtraRefill
		delete(l.Roles, chatguard.RoleEveryone)
	}
	newcomer, ok := l.Roles[roles.FirstTimer]
	if !ok {
		newcomer = inner.NumbersOf(*l, chatguard.Override{})
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
	l.Roles[roles.FirstTimer] = newcomer
}

// Raids starts and ends raid mode. It is safe for concurrent use.
type Raids struct {
	overlays *overlays
	records  *records
	switches *ChannelSwitches

	mu       sync.Mutex // guards the fields below
	rates    func() map[string]float64
	calmEnds map[string]time.Time // until when raid mode doesn't start by itself, by the steady clock
}

// JoinRates lets raid mode start by itself in busy channels. rates returns the messages per second
// of all channels, over the last few seconds. Raids call it once per second, but only if at least
// one channel has a StartRate.
func (r *Raids) JoinRates(rates func() map[string]float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rates = rates
}

// Run ends raid modes when their time is over, and starts those that start by themselves, until ctx
// ends.
func (r *Raids) Run(ctx context.Context) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			r.endDue(ctx)
			r.startDue(ctx)
		case <-ctx.Done():
			return nil
		}
	}
}

// Start starts raid mode, which ends by itself, and returns the end. A length of 0 means the
// default duration; the maximum is a day.
func (r *Raids) Start(ctx context.Context, channelID, author string, length time.Duration) (until time.Time, saved bool, err error) {
	settings, _ := r.overlays.settingsOf(channelID)
	length = cmp.Or(length, settings.Raid.lasts())
	if length < time.Second || length > mostRaid {
		return until, false, fmt.Errorf("raid mode lasts from 1 s to 24 h, not %s", durations.Format(length))
	}
	return r.start(ctx, channelID, author, length, journal.RaidDetail{})
}

// start starts raid mode. detail is without the end.
func (r *Raids) start(ctx context.Context, channelID, author string, length time.Duration, detail journal.RaidDetail) (until time.Time, saved bool, err error) {
	until = r.records.now().Add(length).UTC().Truncate(time.Second)
	ends := r.switches.steady().Add(length)
	detail.Until = until
	a := journal.Audit{Author: author, Action: journal.RaidSwitched, ChannelID: channelID, Detail: detail}
	saved, err = r.switches.turnAndKeep(ctx, a, func(s *Switches) { s.RaidUntil, s.RaidBy, s.raidEnds = until, author, ends })
	return until, saved, err
}

// End ends raid mode. It doesn't start by itself again before the default duration of raid mode is
// over.
func (r *Raids) End(ctx context.Context, channelID, author string) (saved bool, err error) {
	r.calm(channelID)
	return r.switches.turnAndKeep(ctx, journal.Audit{Author: author, Action: journal.RaidSwitched, ChannelID: channelID}, (*Switches).endRaid)
}

// calm keeps raid mode from starting by itself for as long as raid mode lasts by default.
func (r *Raids) calm(channelID string) {
	settings, _ := r.overlays.settingsOf(channelID)
	if settings.Raid.StartRate <= 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calmEnds[channelID] = r.switches.steady().Add(settings.Raid.lasts())
}

// endDue ends each raid mode whose time is over, unless it was started again in the meantime.
func (r *Raids) endDue(ctx context.Context) {
	for channelID := range r.overlays.allSwitches() {
		ended := false
		err := r.switches.turn(channelID, func(s *Switches) {
			if ended = !s.RaidUntil.IsZero() && !s.raidEnds.After(r.switches.steady()); ended {
				s.endRaid()
			}
		})
		if err == nil && ended {
			_, err = r.switches.keep(ctx, journal.Audit{Author: journal.ProgramAuthor, Action: journal.RaidSwitched, ChannelID: channelID})
		}
		if err != nil {
			r.records.log.Error("raid mode is over", "channel", channelID, "error", err)
		}
	}
}

// startDue starts raid mode in each channel that has reached its StartRate. It leaves out channels
// that are paused, and those in which somebody has ended raid mode shortly before.
func (r *Raids) startDue(ctx context.Context) {
	for channelID, perSecond := range r.busy() {
		settings, _ := r.overlays.settingsOf(channelID)
		detail := journal.RaidDetail{MessagesPerSecond: math.Round(perSecond)}
		if _, _, err := r.start(ctx, channelID, journal.ProgramAuthor, settings.Raid.lasts(), detail); err != nil {
			r.records.log.Error("raid mode should have started by itself", "channel", channelID, "error", err)
		}
	}
}

// busy returns the channels in which raid mode must start now, with their messages per second.
func (r *Raids) busy() map[string]float64 {
	r.mu.Lock()
	rates := r.rates
	r.mu.Unlock()
	if rates == nil || !r.overlays.anyStartRate() {
		return nil
	}
	all := rates() // not under the lock: it has a lock of its own
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.calmEnds, func(_ string, end time.Time) bool { return !end.After(r.switches.steady()) })
	maps.DeleteFunc(all, func(channelID string, perSecond float64) bool {
		settings, _ := r.overlays.settingsOf(channelID)
		on := r.overlays.switchesOf(channelID)
		_, isCalm := r.calmEnds[channelID]
		least := settings.Raid.StartRate
		return channelID == "" || least == 0 || perSecond < float64(least) || !on.RaidUntil.IsZero() || on.PausedBy != "" || isCalm
	})
	return all
}
