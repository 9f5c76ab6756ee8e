package control

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/durations"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/policies"
)

// Settings are what people can set for a channel besides its policy. Their keys in JSON are those
// of the configuration. The zero value changes nothing in a raid and sends no notices.
type Settings struct {
	Raid    Raid    `json:"raid"`
	Notices Notices `json:"notices"`
	// Timeouts are those that a moderator gives with one click. If they are zero, as in settings
	// that were stored by earlier versions, the usual ones apply.
	Timeouts Timeouts `json:"timeouts,omitzero"`
	// Moderators is what the channel's moderators may do if they sign in with Twitch. If it is
	// empty, as in settings that were stored by earlier versions, the configuration's applies.
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

// UnmarshalText reads the duration as durations.Parse does.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := durations.Parse(string(text))
	if err != nil {
		return fmt.Errorf("%q is not a duration such as \"10m\"", text)
	}
	*d = Duration(parsed)
	return nil
}

// settingsSetting is the name of the setting that stores the settings of a channel.
const settingsSetting = "settings"

// ChannelSettings has the settings of channels. It is safe for concurrent use.
type ChannelSettings struct {
	overlays *overlays
	records  *records
	// acceptable returns an error for settings that can't work.
	acceptable func(Settings) error

	changing sync.Mutex // held while a channel's settings are changed and stored
}

// Of returns a channel's settings. isChanged is false if they are the configuration's.
func (c *ChannelSettings) Of(channelID string) (s Settings, isChanged bool) {
	return c.overlays.settingsOf(channelID)
}

// ModeratorRole returns what a channel's moderators may do if they sign in with Twitch.
func (c *ChannelSettings) ModeratorRole(channelID string) auth.Access {
	s, _ := c.Of(channelID)
	return s.Moderators
}

// SetBase replaces the settings of the channels whose settings nobody has changed. A raid mode that
// is on continues with the new settings.
func (c *ChannelSettings) SetBase(s Settings) error { return c.overlays.configure(s) }

// SettingsRequest asks to change the settings of a channel.
type SettingsRequest struct {
	ChannelID string
	Author    string
	// Match has the tags of settings that may be replaced; nil means any.
	Match []string
	// Wanted are the new settings; nil means those of the configuration. If Moderators or Timeouts
	// is zero, it stays.
	Wanted *Settings
	// Allow returns an error if the author may not make this change. Nil allows any.
	Allow func(from, to Settings) error
}

// Set replaces a channel's settings, and returns once they are stored. A raid mode that is on
// continues with the new settings. If r.Match isn't nil and lacks the tag of the present settings,
// the error is policies.ErrStale.
func (c *ChannelSettings) Set(ctx context.Context, r SettingsRequest) (saved bool, err error) {
	c.changing.Lock()
	defer c.changing.Unlock()
	channelID := r.ChannelID
	former, isChanged := c.Of(channelID)
	if r.Match != nil && !slices.Contains(r.Match, policies.Tag(former)) {
		return false, policies.ErrStale
	}
	wanted, err := c.wanted(r, former)
	if err != nil {
		return false, err
	}
	if wanted == nil && !isChanged {
		return c.records.commit(ctx), nil
	}
	if err := c.overlays.set(channelID, wanted); err != nil {
		return false, err
	}
	c.records.followers.Notify(func(f policies.Follower) { f.Changed(channelID) })
	if err := c.store(ctx, channelID, wanted); err != nil {
		return false, doneError{"a restart would undo it", c.records.trouble(err)}
	}
	now, _ := c.Of(channelID)
	return c.records.add(ctx, journal.Audit{
		Author: r.Author, Action: journal.SettingsChanged, ChannelID: channelID, Detail: journal.Replaced[Settings]{From: former, To: now},
	})
}

// wanted returns the complete settings that a request asks for, or nil for those of the
// configuration. It returns an error if the author may not set them.
func (c *ChannelSettings) wanted(r SettingsRequest, former Settings) (*Settings, error) {
	wanted, to := r.Wanted, c.overlays.configured()
	if wanted != nil {
		to = *wanted
		to.Moderators, to.Timeouts = cmp.Or(to.Moderators, former.Moderators), cmp.Or(to.Timeouts, former.Timeouts)
		wanted = &to
		if err := c.acceptable(to); err != nil {
			return nil, err
		}
	}
	if r.Allow != nil {
		return wanted, r.Allow(former, to)
	}
	return wanted, nil
}

// store stores a channel's settings; nil means those of the configuration.
func (c *ChannelSettings) store(ctx context.Context, channelID string, wanted *Settings) error {
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
	_, err := c.records.store.SaveSetting(ctx, channelID, settingsSetting, value)
	return err
}

// restore loads a channel's stored settings.
func (c *ChannelSettings) restore(channelID, stored string) {
	if stored == "" {
		return
	}
	var s Settings
	err := json.Unmarshal([]byte(stored), &s)
	if err == nil {
		checked := s
		usual := c.overlays.configured()
		checked.Moderators, checked.Timeouts = cmp.Or(s.Moderators, usual.Moderators), cmp.Or(s.Timeouts, usual.Timeouts)
		err = c.acceptable(checked)
	}
	if err == nil {
		err = c.overlays.set(channelID, &s)
	}
	if err != nil {
		c.records.log.Error("a channel's settings for raid mode and notices can't be used: those of the configuration apply", "channel", channelID, "error", err)
	}
}
