package faketwitch

import "time"

// SetBotModerator makes the bot a moderator or an ordinary chatter in the channel. It ignores an
// unknown channel.
func (s *Server) SetBotModerator(channelLogin string, on bool) {
	s.mu.Lock()
	c := s.channels[channelLogin]
	if c != nil {
		c.botModerates = on
	}
	s.mu.Unlock()
	if c != nil && !on && c.id != s.botID {
		s.dismiss(c.account)
	}
}

// SetModerator makes an account a moderator of the channel or an ordinary chatter, and tells those
// who read the channel's moderation. It ignores an unknown channel. For the bot, use
// SetBotModerator.
func (s *Server) SetModerator(channelLogin, login string, on bool) {
	s.mu.Lock()
	c, a := s.channels[channelLogin], *s.account(login)
	if c != nil {
		c.staff[a.id] = on
	}
	s.mu.Unlock()
	if c == nil {
		return
	}
	details := map[string]any{}
	a.describe("", details)
	action := "unmod"
	if on {
		action = "mod"
	}
	s.notify(s.moderationEvent(s.opts.Now(), c.account, c.account, action, details))
}

// RemoveMessage deletes a message in the name of the broadcaster. It ignores a message that is no
// longer visible.
func (s *Server) RemoveMessage(id string) {
	s.mu.Lock()
	m := s.chat.byID[id]
	if m == nil {
		s.mu.Unlock()
		return
	}
	room := s.channelByID(m.ChannelID)
	s.chat.removeID(id)
	r := removal{at: s.opts.Now(), room: room.account, by: room.account, message: m}
	s.mu.Unlock()
	s.announce(r)
}

// Silence times a user out in the name of the broadcaster. A length of 0 bans the user. It ignores
// an unknown channel.
func (s *Server) Silence(channelLogin, login string, length time.Duration) {
	s.removeIn(channelLogin, func(room *channel, r *removal) {
		r.user, r.length = *s.account(login), length
		s.silence(room, *r)
	})
}

// Lift ends a user's timeout or ban in the name of the broadcaster. It ignores an unknown channel.
func (s *Server) Lift(channelLogin, login string) {
	s.mu.Lock()
	room := s.channels[channelLogin]
	if room == nil {
		s.mu.Unlock()
		return
	}
	l := s.lift(room, s.account(login).id)
	l.at, l.by = s.opts.Now(), room.account
	s.mu.Unlock()
	s.announceLift(l)
}

// Clear clears a whole chat in the name of the broadcaster. It ignores an unknown channel.
func (s *Server) Clear(channelLogin string) {
	s.removeIn(channelLogin, func(room *channel, _ *removal) { s.clear(room) })
}

// removeIn calls do for a removal by a channel's broadcaster, and announces the removal.
func (s *Server) removeIn(channelLogin string, do func(room *channel, r *removal)) {
	s.mu.Lock()
	room := s.channels[channelLogin]
	if room == nil {
		s.mu.Unlock()
		return
	}
	r := removal{at: s.opts.Now(), room: room.account, by: room.account}
	do(room, &r)
	s.mu.Unlock()
	s.announce(r)
}
