package faketwitch

import "time"

// modesChange is a change of a channel's modes by an account.
type modesChange struct {
	at       time.Time
	room, by account
	actions  []string // as EventSub names them
	tags     map[string]string
	details  map[string]map[string]any // by action
}

// note adds a mode that has changed: EventSub's action if it is on, and IRC's tag.
func (c *modesChange) note(isOn bool, action, tag, value string, details map[string]any) {
	if !isOn {
		action, details = action+"off", nil
	}
	c.actions = append(c.actions, action)
	c.tags[tag], c.details[action] = value, details
}

// changeModes changes a channel's modes and returns what to announce. The caller holds mu.
func (c *channel) changeModes(to settingsBody, by account, at time.Time) modesChange {
	change := modesChange{at: at, room: c.account, by: by, tags: map[string]string{}, details: map[string]map[string]any{}}
	was, m := c.modes.settings(), &c.modes
	if to.SlowMode != nil {
		m.slow = slowMode{}
		if *to.SlowMode {
			m.slow = slowMode{wait: time.Duration(*to.SlowModeWait) * time.Second, spoke: make(map[string]time.Time)}
		}
	}
	if to.FollowerMode != nil {
		m.followers = nil
		if *to.FollowerMode {
			m.followers = to.FollowerModeDuration
		}
	}
	for mode, on := range map[*bool]*bool{&m.subscribers: to.SubscriberMode, &m.emotes: to.EmoteMode, &m.unique: to.UniqueChatMode} {
		if on != nil {
			*mode = *on
		}
	}
	is, tags := m.settings(), m.tags()
	differs := func(name string) bool {
		return is[name] != was[name] || is[name+"_wait_time"] != was[name+"_wait_time"] || is[name+"_duration"] != was[name+"_duration"]
	}
	if differs("slow_mode") {
		change.note(m.slow.wait > 0, "slow", "slow", tags["slow"], map[string]any{"wait_time_seconds": is["slow_mode_wait_time"]})
	}
	if differs("follower_mode") {
		change.note(m.followers != nil, "followers", "followers-only", tags["followers-only"], map[string]any{"follow_duration_minutes": is["follower_mode_duration"]})
	}
	if differs("subscriber_mode") {
		change.note(m.subscribers, "subscribers", "subs-only", tags["subs-only"], nil)
	}
	if differs("emote_mode") {
		change.note(m.emotes, "emoteonly", "emote-only", tags["emote-only"], nil)
	}
	if differs("unique_chat_mode") {
		change.note(m.unique, "uniquechat", "r9k", tags["r9k"], nil)
	}
	return change
}

// announceModes tells the channel's readers which modes have changed. The caller must not hold mu.
func (d *delivery) announceModes(c modesChange) {
	if len(c.actions) == 0 {
		return
	}
	events := make([]event, len(c.actions))
	for i, action := range c.actions {
		events[i] = d.events.moderationEvent(c.at, c.room, c.by, action, c.details[action])
	}
	d.dispatch(func() {
		d.irc.write(c.room.login, roomState(c.room, c.tags))
		for _, e := range events {
			d.events.notify(e)
		}
	})
}
