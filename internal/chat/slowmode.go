package chat

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"time"
)

// SlowModeSetting is the name of the setting that holds a channel's slow mode from before the Bot
// changed it.
const SlowModeSetting = "slow_mode"

// Settings store small values per channel that outlive the process.
type Settings interface {
	// SaveSetting stores a value; an empty value deletes the setting. saved is false if the value
	// can't be stored yet but may be later. An error means that it won't be stored.
	SaveSetting(ctx context.Context, channelID, name, value string) (saved bool, err error)
}

// slowModes turns on slow mode as a last resort, if a flood needs more requests than the platform
// accepts, or if it uses up the platform's limit on timeouts in a channel. It stores the previous
// setting first. It restores that setting when the flood is over, or at the next start.
type slowModes struct {
	bot      *Bot
	floods   chan string                 // IDs of channels with a flood
	channels map[string]*channelSlowMode // by channel ID; used only by the holder of turns
	turns    chan struct{}               // holds a value while somebody changes slow mode
	applied  atomic.Pointer[map[string]time.Duration]
}

// channelSlowMode is the slow mode of one channel.
type channelSlowMode struct {
	before  slowMode
	set     time.Duration // the delay that the Bot set
	applied bool          // the Bot turned it on
	byHand  bool          // a person has changed it since, so it stays until the flood is over
	// until is when to restore the previous setting unless the flood continues, or when to retry
	// after a failure.
	until    time.Time
	failures int // failed attempts to restore, in a row
}

// slowMode is a channel's slow mode setting.
type slowMode struct {
	On   bool          `json:"on"`
	Wait time.Duration `json:"wait"` // in nanoseconds
}

// keptSlowMode is the setting that is saved while the Bot's slow mode is on in a channel.
type keptSlowMode struct {
	Before slowMode      `json:"former"`
	Set    time.Duration `json:"ours"` // in nanoseconds
}

const (
	floodOver        = time.Minute      // time without a flood before slow mode ends
	slowModeRetry    = 10 * time.Second // first delay before a retry
	slowModeRetryMax = time.Hour        // maximum delay before a retry
	slowModeTick     = time.Second
)

// reportFlood reports a flood in a channel. It never blocks; while a flood lasts it is called
// repeatedly.
func (k *slowModes) reportFlood(channelID string) {
	select {
	case k.floods <- channelID:
	default:
	}
}

// run manages slow mode until reading ends. It then restores the previous settings, at most until
// acting ends.
func (k *slowModes) run(reading, acting context.Context) {
	tick := time.NewTicker(slowModeTick)
	defer tick.Stop()
	for {
		select {
		case channelID := <-k.floods:
			k.inTurn(acting, func() { k.turnOnFor(acting, channelID) })
		case <-tick.C:
			k.inTurn(acting, func() { k.endDue(acting, k.bot.steady()) })
		case <-reading.Done():
			k.inTurn(acting, func() { k.endDue(acting, k.bot.steady().Add(floodOver+slowModeRetryMax)) })
			return
		}
	}
}

// inTurn calls do while nobody else changes slow mode. If ctx ends first, it returns false.
func (k *slowModes) inTurn(ctx context.Context, do func()) bool {
	select {
	case k.turns <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	do()
	k.publish()
	<-k.turns
	return true
}

// ErrSlowModeBusy means that a person's change of slow mode was not tried.
var ErrSlowModeBusy = errors.New("the bot is changing slow mode itself and waits for the chat's answer; try again")

// ChangeSlowMode calls change, with which a person changes a channel's slow mode, while the Bot
// doesn't change it. If ctx ends earlier, the error is ErrSlowModeBusy. If change succeeds, the
// person's slow mode stays: the Bot changes it no more during a flood, and restores nothing later.
func (b *Bot) ChangeSlowMode(ctx context.Context, channelID string, change func() error) error {
	var err error
	if !b.slowModes.inTurn(ctx, func() {
		if err = change(); err == nil {
			b.slowModes.yield(ctx, channelID)
		}
	}) {
		return ErrSlowModeBusy
	}
	return err
}

// yield leaves slow mode to a person, if the Bot has changed it or may soon do so.
func (k *slowModes) yield(ctx context.Context, channelID string) {
	b := k.channels[channelID]
	if b == nil {
		return
	}
	wasApplied := b.applied
	b.applied, b.byHand = false, true
	if !wasApplied {
		return
	}
	k.bot.options.Logger.Info("somebody has changed slow mode during the flood: it stays as it is now", "channel", channelID)
	if _, err := k.bot.options.Settings.SaveSetting(ctx, channelID, SlowModeSetting, ""); err != nil {
		k.bot.options.Logger.Error("the slow mode from before the flood can't be deleted: the next start may restore it", "channel", channelID, "error", err)
	}
}

// publish makes the channels in which the Bot turned slow mode on visible to Slowed.
func (k *slowModes) publish() {
	applied := map[string]time.Duration{}
	for channelID, b := range k.channels {
		if b.applied {
			applied[channelID] = b.set
		}
	}
	k.applied.Store(&applied)
}

// load loads the settings that an earlier process saved but did not restore. It is called before
// people can change slow mode.
func (k *slowModes) load() {
	for channelID, value := range k.bot.options.SlowModes {
		var kept keptSlowMode
		if err := json.Unmarshal([]byte(value), &kept); err != nil {
			k.bot.options.Logger.Error("the slow mode from before a flood can't be read: check the channel's settings", "channel", channelID, "error", err)
			continue
		}
		k.channels[channelID] = &channelSlowMode{before: kept.Before, set: kept.Set, applied: true, until: k.bot.steady()}
	}
	k.publish()
}

// turnOnFor turns on the Bot's slow mode in a channel, after storing the previous setting. If the
// Bot's slow mode is already on, it only extends the time.
func (k *slowModes) turnOnFor(ctx context.Context, channelID string) {
	now := k.bot.steady()
	switch b := k.channels[channelID]; {
	case b != nil && (b.applied || b.byHand):
		b.until = now.Add(floodOver)
		return
	case b != nil: // a moment ago it failed or wasn't needed
		return
	case k.bot.options.SlowMode == 0 || k.bot.options.Moderator == nil || k.bot.options.Settings == nil:
		return
	}
	b := &channelSlowMode{until: now.Add(slowModeRetry), set: k.bot.options.SlowMode}
	k.channels[channelID] = b
	log := k.bot.options.Logger.With("channel", channelID)
	err := k.turnOn(ctx, channelID, b)
	if b.applied {
		b.until = now.Add(floodOver)
		log.Warn("the flood exceeds what can be acted on: slow mode is on", "wait", b.set)
	}
	if err != nil {
		log.Error("the flood exceeds what can be acted on, and slow mode can't be turned on", "error", err)
	}
}

func (k *slowModes) turnOn(ctx context.Context, channelID string, b *channelSlowMode) (err error) {
	moderator := k.bot.options.Moderator
	b.before.On, b.before.Wait, err = moderator.SlowMode(ctx, channelID)
	if err != nil || b.before.On && b.before.Wait >= b.set {
		return err // already as slow or slower
	}
	value, err := json.Marshal(keptSlowMode{b.before, b.set})
	if err != nil {
		return err
	}
	saved, err := k.bot.options.Settings.SaveSetting(ctx, channelID, SlowModeSetting, string(value))
	if err != nil {
		return err
	}
	if !saved {
		// The previous save may still be pending, but nothing needs restoring.
		_, err := k.bot.options.Settings.SaveSetting(ctx, channelID, SlowModeSetting, "")
		return errors.Join(errors.New("the former slow mode can't be saved: the database is failing"), err)
	}
	b.applied = true // slow mode may be on from here, even after an error
	return moderator.SetSlowMode(ctx, channelID, true, b.set)
}

// endDue restores the previous setting in the channels where slow mode is due to end.
func (k *slowModes) endDue(ctx context.Context, now time.Time) {
	for channelID, b := range k.channels {
		switch {
		case b.until.After(now):
		case !b.applied:
			delete(k.channels, channelID)
		default:
			if err := k.restore(ctx, channelID, b); err != nil {
				b.until = now.Add(min(slowModeRetry<<min(b.failures, 10), slowModeRetryMax))
				b.failures++
				k.bot.sampler.warn("slow mode can't be restored; trying again", "channel", channelID, "error", err, "at", b.until)
				continue
			}
			delete(k.channels, channelID)
		}
	}
}

// restore ends the bot's slow mode in a channel. If somebody has changed it meanwhile, their
// setting stays.
func (k *slowModes) restore(ctx context.Context, channelID string, b *channelSlowMode) error {
	if k.bot.options.Moderator == nil {
		return errors.New("there is no token")
	}
	on, wait, err := k.bot.options.Moderator.SlowMode(ctx, channelID)
	if err != nil {
		return err
	}
	if on && wait == b.set {
		if err := k.bot.options.Moderator.SetSlowMode(ctx, channelID, b.before.On, b.before.Wait); err != nil {
			return err
		}
		k.bot.options.Logger.Info("the flood is over: slow mode is restored", "channel", channelID, "on", b.before.On, "wait", b.before.Wait)
	}
	_, err = k.bot.options.Settings.SaveSetting(ctx, channelID, SlowModeSetting, "")
	return err
}
