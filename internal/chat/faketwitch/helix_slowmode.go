package faketwitch

import (
	"encoding/json"
	"net/http"
	"time"
)

// Twitch's limits for slow mode, in seconds.
const (
	minSlow     = 3
	maxSlow     = 120
	defaultSlow = 30
)

// getChatSettings returns a channel's chat settings, which anyone may read.
func (s *helixServer) getChatSettings(c call) reply {
	room := s.channelByID(c.query.Get("broadcaster_id"))
	if room == nil {
		return refusal(http.StatusNotFound, "The broadcaster was not found.")
	}
	return room.settings()
}

// changeChatSettings turns slow mode on or off.
func (s *helixServer) changeChatSettings(c call, room *channel) reply {
	var body struct {
		On   *bool  `json:"slow_mode"`
		Wait *int64 `json:"slow_mode_wait_time"`
	}
	if json.Unmarshal(c.body, &body) != nil || body.On == nil && body.Wait == nil {
		return refusal(http.StatusBadRequest, "The request body must specify at least one setting.")
	}
	seconds := int64(defaultSlow)
	if body.Wait != nil {
		seconds = *body.Wait
	}
	on := body.On != nil && *body.On
	switch {
	case body.Wait != nil && !on:
		return refusal(http.StatusBadRequest, "To set slow_mode_wait_time, slow_mode must be true.")
	case seconds < minSlow || seconds > maxSlow:
		return refusal(http.StatusBadRequest, "The value in the slow_mode_wait_time field is not valid.")
	}
	room.slow = slowMode{}
	if on {
		room.slow = slowMode{wait: time.Duration(seconds) * time.Second, spoke: make(map[string]time.Time)}
	}
	add(&s.asked.slowModes, SlowMode{At: c.at, ChannelID: room.id, On: on, Wait: room.slow.wait})
	return room.settings()
}

// settings returns a channel's chat settings in Twitch's format. The wait time is null if slow mode
// is off.
func (c *channel) settings() reply {
	var wait any
	if c.slow.wait > 0 {
		wait = int64(c.slow.wait / time.Second)
	}
	return listReply([]any{map[string]any{
		"broadcaster_id": c.id, "slow_mode": c.slow.wait > 0, "slow_mode_wait_time": wait,
		"follower_mode": false, "follower_mode_duration": nil, "subscriber_mode": false, "emote_mode": false, "unique_chat_mode": false,
	}})
}
