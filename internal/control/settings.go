package control

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// Settings are what people can set for a channel besides its policy. Their keys in JSON are those
// of the configuration. The zero value changes nothing in a raid and sends no notices.
type Settings struct {
	Raid    Raid    `json:"raid"`
	Notices Notices `json:"notices"`
}

// Notices are the messages to throttled users in chat.
type Notices struct {
	Text     string   `json:"text"`     // as in config.Notices; empty means that no notices are sent
	Cooldown Duration `json:"cooldown"` // minimum time between notices to a user; 0 means a minute
	Language string   `json:"language"` // of all that chatguard says in chat; empty means English
}

// Duration is a duration that is a text in JSON, such as "10m".
type Duration time.Duration

// MarshalText writes the duration as time.Duration does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads the duration as chatguard.ParseDuration does.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := chatguard.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is not a duration such as \"10m\"", text)
	}
	*d = Duration(parsed)
	return nil
}

// settingsSetting is the name of the setting that stores the settings of a channel.
const settingsSetting = "settings"

// Settings returns a channel's settings. isChanged is false if they are the configuration's.
func (c *Controls) Settings(channelID string) (s Settings, isChanged bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.settingsOf(channelID)
}

// settingsOf is Settings for code that holds mu.
func (c *Controls) settingsOf(channelID string) (s Settings, isChanged bool) {
	if s, isChanged = c.settings[channelID]; isChanged {
		return s, true
	}
	return c.base, false
}

// SetBase replaces the settings of the channels whose settings nobody has changed. A raid mode that
// is on continues with the new settings.
func (c *Controls) SetBase(s Settings) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.base = s
	for channelID, on := range c.switches {
		if _, isChanged := c.settings[channelID]; isChanged {
			continue
		}
		if err := c.overlayGuard(channelID, on); err != nil {
			return err
		}
	}
	return nil
}

// SetSettings replaces a channel's settings, and returns once they are stored. nil settings mean
// those of the configuration. A raid mode that is on continues with the new settings. match has the
// tags of settings that may be replaced; nil means any. For other settings, the error is ErrStale.
func (c *Controls) SetSettings(ctx context.Context, channelID, author string, match []string, wanted *Settings) (saved bool, err error) {
	c.configuring.Lock()
	defer c.configuring.Unlock()
	former, isChanged := c.Settings(channelID)
	if match != nil && !slices.Contains(match, Tag(former)) {
		return false, ErrStale
	}
	if wanted != nil && c.options.Acceptable != nil {
		if err := c.options.Acceptable(*wanted); err != nil {
			return false, err
		}
	}
	if wanted == nil && !isChanged {
		return c.commit(ctx), nil
	}
	if err := c.applySettings(channelID, wanted); err != nil {
		return false, err
	}
	c.options.Policies.notify(func(f Follower) { f.Changed(channelID) })
	if err := c.storeSettings(ctx, channelID, wanted); err != nil {
		return false, doneError{"a restart would undo it", c.trouble(err)}
	}
	now, _ := c.Settings(channelID)
	return c.record(ctx, journal.Audit{
		Author: author, Action: journal.SettingsChanged, ChannelID: channelID, Detail: map[string]Settings{"from": former, "to": now},
	})
}

// applySettings puts a channel's settings in force; nil means those of the configuration.
func (c *Controls) applySettings(channelID string, wanted *Settings) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	former, isChanged := c.settings[channelID]
	if wanted != nil {
		c.settings[channelID] = *wanted
	} else {
		delete(c.settings, channelID)
	}
	err := c.overlayGuard(channelID, c.switches[channelID])
	if err == nil {
		return nil
	}
	if isChanged {
		c.settings[channelID] = former
	} else {
		delete(c.settings, channelID)
	}
	return err
}

func (c *Controls) storeSettings(ctx context.Context, channelID string, wanted *Settings) error {
	ctx, cancel := untilKept(ctx)
	defer cancel()
	value := ""
	if wanted != nil {
		written, err := json.Marshal(wanted)
		if err != nil {
			return err
		}
		value = string(written)
	}
	_, err := c.options.Store.SaveSetting(ctx, channelID, settingsSetting, value)
	return err
}

// recallSettings loads a channel's stored settings.
func (c *Controls) recallSettings(channelID, stored string) {
	if stored == "" {
		return
	}
	var s Settings
	err := json.Unmarshal([]byte(stored), &s)
	if err == nil && c.options.Acceptable != nil {
		err = c.options.Acceptable(s)
	}
	if err == nil {
		err = c.applySettings(channelID, &s)
	}
	if err != nil {
		c.log.Error("a channel's settings for raid mode and notices can't be used: those of the configuration apply", "channel", channelID, "error", err)
	}
}
