package control

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/policies"
)

// Settings are what people can set for a channel besides its policy. Their keys in JSON are those
// of the configuration. The zero value changes nothing in a raid and sends no notices.
type Settings struct {
	Raid    Raid    `json:"raid"`
	Notices Notices `json:"notices"`
	// Moderators is what the channel's moderators may do who sign in with Twitch. If it is empty,
	// as in settings that were stored by earlier versions, the configuration's applies.
	Moderators auth.Access `json:"moderators,omitempty"`
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
		s.Moderators = cmp.Or(s.Moderators, c.base.Moderators)
		return s, true
	}
	return c.base, false
}

// ModeratorRole returns what a channel's moderators may do who sign in with Twitch.
func (c *Controls) ModeratorRole(channelID string) auth.Access {
	s, _ := c.Settings(channelID)
	return s.Moderators
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

// SettingsRequest asks for other settings of a channel.
type SettingsRequest struct {
	ChannelID string
	Author    string
	// Match has the tags of settings that may be replaced; nil means any.
	Match []string
	// Wanted are the new settings; nil means those of the configuration. If Moderators is empty, the
	// moderators' role stays.
	Wanted *Settings
	// Allow returns an error if the author may not make this change. Nil allows any.
	Allow func(from, to Settings) error
}

// SetSettings replaces a channel's settings, and returns once they are stored. A raid mode that is
// on continues with the new settings. If the settings aren't among those that may be replaced, the
// error is ErrStale.
func (c *Controls) SetSettings(ctx context.Context, r SettingsRequest) (saved bool, err error) {
	c.configuring.Lock()
	defer c.configuring.Unlock()
	channelID := r.ChannelID
	former, isChanged := c.Settings(channelID)
	if r.Match != nil && !slices.Contains(r.Match, policies.Tag(former)) {
		return false, policies.ErrStale
	}
	wanted, err := c.wantedSettings(r, former)
	if err != nil {
		return false, err
	}
	if wanted == nil && !isChanged {
		return c.commit(ctx), nil
	}
	if err := c.applySettings(channelID, wanted); err != nil {
		return false, err
	}
	c.options.Policies.Followers.Notify(func(f policies.Follower) { f.Changed(channelID) })
	if err := c.storeSettings(ctx, channelID, wanted); err != nil {
		return false, doneError{"a restart would undo it", c.trouble(err)}
	}
	now, _ := c.Settings(channelID)
	return c.record(ctx, journal.Audit{
		Author: r.Author, Action: journal.SettingsChanged, ChannelID: channelID, Detail: map[string]Settings{"from": former, "to": now},
	})
}

// wantedSettings returns the complete settings that a request asks for, or nil for those of the
// configuration, if its author may set them.
func (c *Controls) wantedSettings(r SettingsRequest, former Settings) (*Settings, error) {
	wanted, to := r.Wanted, c.configuredSettings()
	if wanted != nil {
		to = *wanted
		to.Moderators = cmp.Or(to.Moderators, former.Moderators)
		wanted = &to
		if c.options.Acceptable != nil {
			if err := c.options.Acceptable(to); err != nil {
				return nil, err
			}
		}
	}
	if r.Allow != nil {
		return wanted, r.Allow(former, to)
	}
	return wanted, nil
}

// configuredSettings returns the settings of the configuration.
func (c *Controls) configuredSettings() Settings {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.base
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
	ctx, cancel := policies.UntilKept(ctx)
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
		checked := s
		checked.Moderators = cmp.Or(s.Moderators, c.configuredSettings().Moderators)
		err = c.options.Acceptable(checked)
	}
	if err == nil {
		err = c.applySettings(channelID, &s)
	}
	if err != nil {
		c.log.Error("a channel's settings for raid mode and notices can't be used: those of the configuration apply", "channel", channelID, "error", err)
	}
}
