package faketwitch

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// Twitch's bounds on slow mode, in seconds.
const (
	minSlow     = 3
	maxSlow     = 120
	defaultSlow = 30
)

// SlowMode is a change of a channel's slow mode, made on request.
type SlowMode struct {
	At        time.Time
	ChannelID string
	On        bool
	Wait      time.Duration // 0 where it is off
}

// slowMode makes ordinary users wait between two messages. The zero value is off. The Server's mu guards it.
type slowMode struct {
	wait  time.Duration
	spoke map[string]time.Time // when users spoke last, since it is on; by user ID
}

// allows reports whether a user may speak now, and takes note that they do. Those who keep order and VIPs never wait.
func (m *slowMode) allows(userID, badges string, now time.Time) bool {
	if m.wait == 0 || isStaff(badges) || strings.Contains(","+badges, ",vip/") {
		return true
	}
	if last, ok := m.spoke[userID]; ok && now.Sub(last) < m.wait {
		return false
	}
	m.spoke[userID] = now
	return true
}

// SlowModes returns the changes of slow modes made on request.
func (s *Server) SlowModes() []SlowMode { return copied(s, &s.asked.slowModes) }

// getChatSettings tells about a channel's chat, which anyone may ask.
func (s *Server) getChatSettings(c call) reply {
	room := s.channelByID(c.query.Get("broadcaster_id"))
	if room == nil {
		return refuse(http.StatusNotFound, "The broadcaster was not found.")
	}
	return room.settings()
}

// changeChatSettings turns slow mode on or off.
func (s *Server) changeChatSettings(c call, room *channel) reply {
	var body struct {
		On   *bool  `json:"slow_mode"`
		Wait *int64 `json:"slow_mode_wait_time"`
	}
	if json.Unmarshal(c.body, &body) != nil || body.On == nil && body.Wait == nil {
		return refuse(http.StatusBadRequest, "The request body must specify at least one setting.")
	}
	seconds := int64(defaultSlow)
	if body.Wait != nil {
		seconds = *body.Wait
	}
	on := body.On != nil && *body.On
	switch {
	case body.Wait != nil && !on:
		return refuse(http.StatusBadRequest, "To set slow_mode_wait_time, slow_mode must be true.")
	case seconds < minSlow || seconds > maxSlow:
		return refuse(http.StatusBadRequest, "The value in the slow_mode_wait_time field is not valid.")
	}
	room.slow = slowMode{}
	if on {
		room.slow = slowMode{wait: time.Duration(seconds) * time.Second, spoke: make(map[string]time.Time)}
	}
	add(&s.asked.slowModes, SlowMode{At: c.at, ChannelID: room.id, On: on, Wait: room.slow.wait})
	return room.settings()
}

// settings is a channel's chat in the form of Twitch's answer. A slow mode that is off has no time.
func (c *channel) settings() reply {
	var wait any
	if c.slow.wait > 0 {
		wait = int64(c.slow.wait / time.Second)
	}
	return tell([]any{map[string]any{
		"broadcaster_id": c.id, "slow_mode": c.slow.wait > 0, "slow_mode_wait_time": wait,
		"follower_mode": false, "follower_mode_duration": nil, "subscriber_mode": false, "emote_mode": false, "unique_chat_mode": false,
	}})
}
