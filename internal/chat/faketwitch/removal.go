package faketwitch

import (
	"fmt"
	"time"
)

// removal is an action by which a moderator removed a message, all messages of a user, or all
// messages of a channel.
type removal struct {
	at      time.Time
	room    account // the channel
	by      account // the moderator
	message *Message
	// user is the author if all of a user's messages were removed; zero for the whole channel.
	user   account
	length time.Duration // duration of the user's timeout; 0 for a ban
}

// announce tells the channel's readers what was removed. The caller must not hold mu.
func (s *Server) announce(r removal) {
	event := r.event(s)
	s.dispatch(func() {
		s.write(r.room.login, r.line())
		s.notify(event)
	})
}

// line returns the removal as a line of Twitch's chat.
func (r removal) line() string {
	sent := r.at.UnixMilli()
	switch {
	case r.message != nil:
		return fmt.Sprintf("@login=%s;room-id=;target-msg-id=%s;tmi-sent-ts=%d :tmi.twitch.tv CLEARMSG #%s :%s",
			escape(r.message.Login), r.message.ID, sent, r.room.login, r.message.Text)
	case r.user.id == "":
		return fmt.Sprintf("@room-id=%s;tmi-sent-ts=%d :tmi.twitch.tv CLEARCHAT #%s", r.room.id, sent, r.room.login)
	}
	length := ""
	if r.length > 0 {
		length = fmt.Sprintf("ban-duration=%d;", int(r.length.Seconds()))
	}
	return fmt.Sprintf("@%sroom-id=%s;target-user-id=%s;tmi-sent-ts=%d :tmi.twitch.tv CLEARCHAT #%s :%s",
		length, r.room.id, r.user.id, sent, r.room.login, r.user.login)
}

// RemoveMessage deletes a message as another moderator, namely the broadcaster. It ignores a
// message that is no longer visible.
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

// Silence times a user out as another moderator, the broadcaster; a length of 0 bans them. It
// ignores an unknown channel.
func (s *Server) Silence(channelLogin, login string, length time.Duration) {
	s.mu.Lock()
	room := s.channels[channelLogin]
	if room == nil {
		s.mu.Unlock()
		return
	}
	user := *s.account(login)
	r := removal{at: s.opts.Now(), room: room.account, by: room.account, user: user, length: length}
	s.silence(room, r)
	s.mu.Unlock()
	s.announce(r)
}

// silence prevents a user from writing and removes their messages. The caller holds mu.
func (s *Server) silence(room *channel, r removal) {
	ends := restriction{until: r.at.Add(forever), permanent: true}
	if r.length > 0 {
		ends = restriction{until: r.at.Add(r.length)}
	}
	room.silenced[r.user.id] = ends
	s.chat.remove(func(m *Message) bool { return m.ChannelID == room.id && m.UserID == r.user.id })
}

// Clear clears a whole chat as another moderator, the broadcaster. It ignores an unknown channel.
func (s *Server) Clear(channelLogin string) {
	s.mu.Lock()
	room := s.channels[channelLogin]
	if room == nil {
		s.mu.Unlock()
		return
	}
	r := removal{at: s.opts.Now(), room: room.account, by: room.account}
	s.clear(room)
	s.mu.Unlock()
	s.announce(r)
}

// clear removes all messages of a channel. The caller holds mu.
func (s *Server) clear(room *channel) {
	s.chat.remove(func(m *Message) bool { return m.ChannelID == room.id })
}
