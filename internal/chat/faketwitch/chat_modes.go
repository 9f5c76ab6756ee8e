package faketwitch

import (
	"fmt"
	"maps"
	"strings"
	"time"
	"unicode"
)

// chatModes are the modes of a channel that say who may write. The Server's mu guards them.
type chatModes struct {
	slow        slowMode
	followers   *int64 // minutes since they follow; nil if off. Every account follows since the start.
	subscribers bool
	emotes      bool
	unique      bool
}

// slowMode is the minimum time between two messages of an ordinary user. The zero value is off.
type slowMode struct {
	wait  time.Duration
	spoke map[string]time.Time // time of the last message since slow mode was turned on, by user ID
}

// allows reports whether a user may write now. If so, it records the message. Slow mode does not
// apply to moderators, the broadcaster and VIPs.
func (m *slowMode) allows(userID, badges string, now time.Time) bool {
	if m.wait == 0 || isStaff(badges) || hasBadge(badges, "vip") {
		return true
	}
	if last, ok := m.spoke[userID]; ok && now.Sub(last) < m.wait {
		return false
	}
	m.spoke[userID] = now
	return true
}

// allowsText reports whether the modes allow a text. They don't apply to moderators and the
// broadcaster. Emotes have no letters here, and unique chat is not enforced.
func (m *chatModes) allowsText(badges, text string) bool {
	return isStaff(badges) ||
		(!m.subscribers || hasBadge(badges, "subscriber") || hasBadge(badges, "vip")) && (!m.emotes || !strings.ContainsFunc(text, unicode.IsLetter))
}

func hasBadge(badges, name string) bool { return strings.Contains(","+badges, ","+name+"/") }

// settings returns the modes in Helix's format. The numbers of modes that are off are null.
func (m *chatModes) settings() map[string]any {
	all := map[string]any{
		"slow_mode": m.slow.wait > 0, "slow_mode_wait_time": nil, "follower_mode": m.followers != nil, "follower_mode_duration": nil,
		"subscriber_mode": m.subscribers, "emote_mode": m.emotes, "unique_chat_mode": m.unique,
	}
	if m.slow.wait > 0 {
		all["slow_mode_wait_time"] = int64(m.slow.wait / time.Second)
	}
	if m.followers != nil {
		all["follower_mode_duration"] = *m.followers
	}
	return all
}

// tags returns the modes as tags of a ROOMSTATE.
func (m *chatModes) tags() map[string]string {
	digit := map[bool]string{true: "1", false: "0"}
	all := map[string]string{
		"slow": fmt.Sprint(int64(m.slow.wait / time.Second)), "followers-only": "-1",
		"subs-only": digit[m.subscribers], "emote-only": digit[m.emotes], "r9k": digit[m.unique],
	}
	if m.followers != nil {
		all["followers-only"] = fmt.Sprint(*m.followers)
	}
	return all
}

// roomState returns the line that tells a channel's modes, or some of them.
func roomState(room account, tags map[string]string) string {
	all := maps.Clone(tags)
	all["room-id"] = room.id
	line := ""
	for _, name := range []string{"emote-only", "followers-only", "r9k", "room-id", "slow", "subs-only"} {
		if value, ok := all[name]; ok {
			line += ";" + name + "=" + value
		}
	}
	return "@" + line[1:] + " :tmi.twitch.tv ROOMSTATE #" + room.login
}

// Twitch's limits and usual values for modes: seconds of slow mode, and minutes of following.
const (
	minSlow      = 3
	maxSlow      = 120
	defaultSlow  = 30
	maxFollowing = 129_600
)

// settingsBody is the body of a change of chat settings. A nil field changes nothing.
type settingsBody struct {
	SlowMode             *bool  `json:"slow_mode"`
	SlowModeWait         *int64 `json:"slow_mode_wait_time"`
	FollowerMode         *bool  `json:"follower_mode"`
	FollowerModeDuration *int64 `json:"follower_mode_duration"`
	SubscriberMode       *bool  `json:"subscriber_mode"`
	EmoteMode            *bool  `json:"emote_mode"`
	UniqueChatMode       *bool  `json:"unique_chat_mode"`
}

// problem returns why Twitch refuses the settings, or "". It sets missing numbers.
func (b *settingsBody) problem() string {
	isOn := func(mode *bool) bool { return mode != nil && *mode }
	switch {
	case *b == settingsBody{}:
		return "The request body must specify at least one setting."
	case b.SlowModeWait != nil && !isOn(b.SlowMode):
		return "To set slow_mode_wait_time, slow_mode must be true."
	case b.FollowerModeDuration != nil && !isOn(b.FollowerMode):
		return "To set follower_mode_duration, follower_mode must be true."
	}
	if isOn(b.SlowMode) && b.SlowModeWait == nil {
		b.SlowModeWait = new(int64(defaultSlow))
	}
	if isOn(b.FollowerMode) && b.FollowerModeDuration == nil {
		b.FollowerModeDuration = new(int64)
	}
	switch {
	case b.SlowModeWait != nil && (*b.SlowModeWait < minSlow || *b.SlowModeWait > maxSlow):
		return "The value in the slow_mode_wait_time field is not valid."
	case b.FollowerModeDuration != nil && (*b.FollowerModeDuration < 0 || *b.FollowerModeDuration > maxFollowing):
		return "The value in the follower_mode_duration field is not valid."
	}
	return ""
}
