package journal

import "errors"

// ChatModes are the modes of a channel's chat that say who may write, and how often. Their names
// and units in JSON are those of Twitch's chat settings.
type ChatModes struct {
	EmoteMode            bool `json:"emote_mode"`             // only emotes may be sent
	FollowerMode         bool `json:"follower_mode"`          // only followers may write
	FollowerModeDuration int  `json:"follower_mode_duration"` // minutes since they follow; 0 if off
	SlowMode             bool `json:"slow_mode"`
	SlowModeWait         int  `json:"slow_mode_wait_time"` // seconds between two messages of a user; 0 if off
	SubscriberMode       bool `json:"subscriber_mode"`     // only subscribers may write
	UniqueChatMode       bool `json:"unique_chat_mode"`    // no message may repeat another one
}

// ChatModesChange is a change of a channel's chat modes. A nil field leaves its mode as it is. It
// is also the detail of ChatModesChanged.
type ChatModesChange struct {
	EmoteMode            *bool `json:"emote_mode,omitempty"`
	FollowerMode         *bool `json:"follower_mode,omitempty"`
	FollowerModeDuration *int  `json:"follower_mode_duration,omitempty"` // nil means Twitch's usual one
	SlowMode             *bool `json:"slow_mode,omitempty"`
	SlowModeWait         *int  `json:"slow_mode_wait_time,omitempty"` // nil means Twitch's usual one
	SubscriberMode       *bool `json:"subscriber_mode,omitempty"`
	UniqueChatMode       *bool `json:"unique_chat_mode,omitempty"`
}

// Twitch's limits on the numbers of chat modes.
const (
	MinSlowModeWait         = 3       // seconds
	MaxSlowModeWait         = 120     // seconds
	MaxFollowerModeDuration = 129_600 // minutes: 90 days
)

// Check returns an error for a change that Twitch would refuse.
func (c ChatModesChange) Check() error {
	isOn := func(mode *bool) bool { return mode != nil && *mode }
	wait, follows := c.SlowModeWait, c.FollowerModeDuration
	switch {
	case c == ChatModesChange{}:
		return errors.New("name at least one chat mode, such as \"slow_mode\"")
	case wait != nil && !isOn(c.SlowMode):
		return errors.New("\"slow_mode_wait_time\" needs \"slow_mode\": true")
	case wait != nil && (*wait < MinSlowModeWait || *wait > MaxSlowModeWait):
		return errors.New("\"slow_mode_wait_time\" must be 3 to 120 seconds")
	case follows != nil && !isOn(c.FollowerMode):
		return errors.New("\"follower_mode_duration\" needs \"follower_mode\": true")
	case follows != nil && (*follows < 0 || *follows > MaxFollowerModeDuration):
		return errors.New("\"follower_mode_duration\" must be 0 to 129600 minutes, which is 90 days")
	}
	return nil
}

// Apply returns the modes after a change. A number that the change leaves out stays as it is.
func (m ChatModes) Apply(c ChatModesChange) ChatModes {
	set(&m.EmoteMode, c.EmoteMode)
	set(&m.FollowerMode, c.FollowerMode)
	set(&m.FollowerModeDuration, c.FollowerModeDuration)
	set(&m.SlowMode, c.SlowMode)
	set(&m.SlowModeWait, c.SlowModeWait)
	set(&m.SubscriberMode, c.SubscriberMode)
	set(&m.UniqueChatMode, c.UniqueChatMode)
	if !m.SlowMode {
		m.SlowModeWait = 0
	}
	if !m.FollowerMode {
		m.FollowerModeDuration = 0
	}
	return m
}

func set[T any](value, to *T) {
	if to != nil {
		*value = *to
	}
}

// IsComplete reports whether a change says of each mode whether it is on.
func (c ChatModesChange) IsComplete() bool {
	return c.EmoteMode != nil && c.FollowerMode != nil && c.SlowMode != nil && c.SubscriberMode != nil && c.UniqueChatMode != nil
}
