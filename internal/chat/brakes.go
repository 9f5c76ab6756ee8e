package chat

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"time"
)

// SlowModeSetting is the name of the setting that keeps what a channel's slow mode was before the Bot changed it.
const SlowModeSetting = "slow_mode"

// Settings keep small things about channels beyond the process.
type Settings interface {
	// SaveSetting keeps a value; an empty one is forgotten. saved is false where it can't be kept for now; the error says that it won't be.
	SaveSetting(ctx context.Context, channelID, name, value string) (saved bool, err error)
}

// brakes turn slow mode on as a last resort: where a flood is more than can be acted on. What was set before is kept first, and put back once
// the flood is over, or at the next start.
type brakes struct {
	bot     *Bot
	pressed chan string       // IDs of channels with a flood
	on      map[string]*brake // by channel; only run touches it
	applied atomic.Pointer[map[string]time.Duration]
}

// brake is one channel's slow mode.
type brake struct {
	former   slowMode
	ours     time.Duration // what it was set to
	applied  bool          // it is on because of us
	until    time.Time     // when to put it back, unless the flood goes on; or to try again what has failed
	failures int           // to put it back, in a row
}

// slowMode is how a channel's slow mode is set.
type slowMode struct {
	On   bool          `json:"on"`
	Wait time.Duration `json:"wait"` // in nanoseconds
}

// keptSlowMode is what is kept while a channel's slow mode is ours.
type keptSlowMode struct {
	Former slowMode      `json:"former"`
	Ours   time.Duration `json:"ours"` // in nanoseconds
}

const (
	calm       = time.Minute      // without a flood, after which slow mode ends
	brakeAgain = 10 * time.Second // until another try at what has failed, to begin with
	brakeRests = time.Hour        // and at most
	brakesTick = time.Second
)

func newBrakes(b *Bot) *brakes {
	return &brakes{bot: b, pressed: make(chan string, 64), on: map[string]*brake{}}
}

// press says that there is a flood in a channel. It never blocks; while a flood lasts it is called again and again.
func (k *brakes) press(channelID string) {
	select {
	case k.pressed <- channelID:
	default:
	}
}

// run sees to slow mode until the reading ends, and then puts back what it can while acting lasts.
func (k *brakes) run(reading, acting context.Context) {
	k.recall()
	k.tell()
	tick := time.NewTicker(brakesTick)
	defer tick.Stop()
	for {
		select {
		case channelID := <-k.pressed:
			k.apply(acting, channelID)
			k.tell()
		case <-tick.C:
			k.release(acting, k.bot.steady())
			k.tell()
		case <-reading.Done():
			k.release(acting, k.bot.steady().Add(calm+brakeRests))
			return
		}
	}
}

// tell lets others know in which channels slow mode is on because of us.
func (k *brakes) tell() {
	applied := map[string]time.Duration{}
	for channelID, b := range k.on {
		if b.applied {
			applied[channelID] = b.ours
		}
	}
	k.applied.Store(&applied)
}

// recall takes up what a process before this one has left to be put back.
func (k *brakes) recall() {
	for channelID, value := range k.bot.options.SlowModes {
		var kept keptSlowMode
		if err := json.Unmarshal([]byte(value), &kept); err != nil {
			k.bot.options.Logger.Error("what slow mode was before a flood can't be read: check it in the channel's settings", "channel", channelID, "error", err)
			continue
		}
		k.on[channelID] = &brake{former: kept.Former, ours: kept.Ours, applied: true, until: k.bot.steady()}
	}
}

// apply turns slow mode on in a channel where it isn't, once it is kept what to put back.
func (k *brakes) apply(ctx context.Context, channelID string) {
	now := k.bot.steady()
	switch b := k.on[channelID]; {
	case b != nil && b.applied:
		b.until = now.Add(calm)
		return
	case b != nil: // it has failed, or wasn't needed, a moment ago
		return
	case k.bot.options.SlowMode == 0 || k.bot.options.Moderator == nil || k.bot.options.Settings == nil:
		return
	}
	b := &brake{until: now.Add(brakeAgain), ours: k.bot.options.SlowMode}
	k.on[channelID] = b
	log := k.bot.options.Logger.With("channel", channelID)
	err := k.turnOn(ctx, channelID, b)
	if b.applied {
		b.until = now.Add(calm)
		log.Warn("a flood is more than can be acted on: slow mode is on", "wait", b.ours)
	}
	if err != nil {
		log.Error("a flood is more than can be acted on, and slow mode can't be turned on", "error", err)
	}
}

func (k *brakes) turnOn(ctx context.Context, channelID string, b *brake) (err error) {
	moderator := k.bot.options.Moderator
	b.former.On, b.former.Wait, err = moderator.SlowMode(ctx, channelID)
	if err != nil || b.former.On && b.former.Wait >= b.ours {
		return err // as slow as it would be made
	}
	value, err := json.Marshal(keptSlowMode{b.former, b.ours})
	if err != nil {
		return err
	}
	saved, err := k.bot.options.Settings.SaveSetting(ctx, channelID, SlowModeSetting, string(value))
	if err != nil {
		return err
	}
	if !saved {
		_, err := k.bot.options.Settings.SaveSetting(ctx, channelID, SlowModeSetting, "") // it waits to be kept, and nothing will have to be put back
		return errors.Join(errors.New("what to put back can't be kept: the database is in trouble"), err)
	}
	b.applied = true // from here on it may be on, whatever comes back
	return moderator.SetSlowMode(ctx, channelID, true, b.ours)
}

// release puts back what was set before, in the channels whose time has come by now.
func (k *brakes) release(ctx context.Context, now time.Time) {
	for channelID, b := range k.on {
		switch {
		case b.until.After(now):
		case !b.applied:
			delete(k.on, channelID)
		default:
			if err := k.putBack(ctx, channelID, b); err != nil {
				b.until = now.Add(min(brakeAgain<<min(b.failures, 10), brakeRests))
				b.failures++
				k.bot.complain("slow mode can't be put back; trying again", "channel", channelID, "error", err, "at", b.until)
				continue
			}
			delete(k.on, channelID)
		}
	}
}

// putBack ends our slow mode. Where somebody has changed it meanwhile, that stays.
func (k *brakes) putBack(ctx context.Context, channelID string, b *brake) error {
	if k.bot.options.Moderator == nil {
		return errors.New("there is no token")
	}
	on, wait, err := k.bot.options.Moderator.SlowMode(ctx, channelID)
	if err != nil {
		return err
	}
	if on && wait == b.ours {
		if err := k.bot.options.Moderator.SetSlowMode(ctx, channelID, b.former.On, b.former.Wait); err != nil {
			return err
		}
		k.bot.options.Logger.Info("the flood is over: slow mode is as before", "channel", channelID, "on", b.former.On, "wait", b.former.Wait)
	}
	_, err = k.bot.options.Settings.SaveSetting(ctx, channelID, SlowModeSetting, "")
	return err
}
