package control

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
)

// overlays has the switches and the settings of channels, and puts them in force over the channels'
// policies. It is safe for concurrent use.
type overlays struct {
	guard *chatguard.Guard
	now   func() time.Time

	mu       sync.Mutex // held while they change and take effect
	switches map[string]Switches
	base     Settings            // of the configuration
	settings map[string]Settings // of the channels whose settings people have changed
}

// switchesOf returns the switches of a channel.
func (o *overlays) switchesOf(channelID string) Switches {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.switches[channelID]
}

// allSwitches returns the switches of every channel that has or had one on.
func (o *overlays) allSwitches() map[string]Switches {
	o.mu.Lock()
	defer o.mu.Unlock()
	return maps.Clone(o.switches)
}

// turn changes a channel's switches and puts them in force. It reports whether they differ.
func (o *overlays) turn(channelID string, change func(*Switches)) (changed bool, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	before := o.switches[channelID]
	after := before
	if change(&after); after == before {
		return false, nil
	}
	settings, _ := o.current(channelID)
	if err := o.apply(channelID, after, settings.Raid); err != nil {
		return false, err
	}
	o.switches[channelID] = after
	return true, nil
}

// settingsOf returns the settings of a channel. isChanged is false if they are the configuration's.
func (o *overlays) settingsOf(channelID string) (s Settings, isChanged bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.current(channelID)
}

// current is settingsOf for code that holds mu.
func (o *overlays) current(channelID string) (s Settings, isChanged bool) {
	if s, isChanged = o.settings[channelID]; isChanged {
		s.Moderators, s.Timeouts = cmp.Or(s.Moderators, o.base.Moderators), cmp.Or(s.Timeouts, o.base.Timeouts)
		return s, true
	}
	return o.base, false
}

// configured returns the settings of the configuration.
func (o *overlays) configured() Settings {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.base
}

// configure replaces the settings of the configuration.
func (o *overlays) configure(s Settings) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.base = s
	for channelID, on := range o.switches {
		if _, isChanged := o.settings[channelID]; isChanged {
			continue
		}
		if err := o.apply(channelID, on, s.Raid); err != nil {
			return err
		}
	}
	return nil
}

// set puts a channel's settings in force; nil means those of the configuration.
func (o *overlays) set(channelID string, wanted *Settings) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.apply(channelID, o.switches[channelID], cmp.Or(wanted, &o.base).Raid); err != nil {
		return err
	}
	if wanted != nil {
		o.settings[channelID] = *wanted
	} else {
		delete(o.settings, channelID)
	}
	return nil
}

// anyStartRate reports whether raid mode may start by itself in any channel.
func (o *overlays) anyStartRate() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	hasRate := func(s Settings) bool { return s.Raid.StartRate > 0 }
	return hasRate(o.base) || slices.ContainsFunc(slices.Collect(maps.Values(o.settings)), hasRate)
}

// apply puts a channel's switches in force. The caller holds mu.
func (o *overlays) apply(channelID string, s Switches, raid Raid) error {
	return inner.At(o.guard, o.now()).SetOverlay(channelID, overlay(s, raid))
}

// overlay returns the effect of the switches on a policy, or nil if all are off.
func overlay(s Switches, raid Raid) func(chatguard.Policy) chatguard.Policy {
	if s == (Switches{}) {
		return nil
	}
	return func(p chatguard.Policy) chatguard.Policy {
		if s.PausedBy != "" || s.Held != "" {
			p.Mode = chatguard.ModeObserve
		}
		if !s.RaidUntil.IsZero() {
			p = raid.over(p)
		}
		return p
	}
}
