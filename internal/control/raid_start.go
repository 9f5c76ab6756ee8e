package control

import (
	"context"
	"maps"
	"math"
	"slices"
	"time"
)

// JoinRates lets raid mode start by itself in busy channels. rates returns the messages per second
// of all channels, over the last few seconds. Controls call it once per second, but only if at
// least one channel has a StartRate.
func (c *Controls) JoinRates(rates func() map[string]float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rates = rates
}

// startRaids starts raid mode in each channel that has reached its StartRate. It leaves out
// channels that are paused, and those in which somebody has ended raid mode shortly before.
func (c *Controls) startRaids(ctx context.Context) {
	for channelID, perSecond := range c.busy() {
		settings, _ := c.Settings(channelID)
		detail := map[string]any{"messages_per_second": math.Round(perSecond)}
		if _, _, err := c.raid(ctx, channelID, "chatguard", settings.Raid.lasts(), detail); err != nil {
			c.log.Error("raid mode should have started by itself", "channel", channelID, "error", err)
		}
	}
}

// busy returns the channels in which raid mode must start now, with their messages per second.
func (c *Controls) busy() map[string]float64 {
	c.mu.Lock()
	rates := c.rates
	if !c.isWatching() {
		rates = nil
	}
	c.mu.Unlock()
	if rates == nil {
		return nil
	}
	all := rates() // not under the lock: it has a lock of its own
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.calmEnds, func(_ string, end time.Time) bool { return !end.After(c.steady()) })
	maps.DeleteFunc(all, func(channelID string, perSecond float64) bool {
		settings, _ := c.settingsOf(channelID)
		on := c.switches[channelID]
		_, isCalm := c.calmEnds[channelID]
		least := settings.Raid.StartRate
		return channelID == "" || least == 0 || perSecond < float64(least) || !on.RaidUntil.IsZero() || on.PausedBy != "" || isCalm
	})
	return all
}

// isWatching reports whether any channel has a StartRate. The caller holds mu.
func (c *Controls) isWatching() bool {
	hasRate := func(s Settings) bool { return s.Raid.StartRate > 0 }
	return hasRate(c.base) || slices.ContainsFunc(slices.Collect(maps.Values(c.settings)), hasRate)
}

// calm keeps raid mode from starting by itself for its default duration.
func (c *Controls) calm(channelID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if settings, _ := c.settingsOf(channelID); settings.Raid.StartRate > 0 {
		c.calmEnds[channelID] = c.steady().Add(settings.Raid.lasts())
	}
}
