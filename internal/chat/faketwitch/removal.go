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

// silence prevents a user from writing and removes their messages. The caller holds mu.
func (s *state) silence(room *channel, r removal) {
	ends := restriction{until: r.at.Add(forever), permanent: true}
	if r.length > 0 {
		ends = restriction{until: r.at.Add(r.length)}
	}
	room.silenced[r.user.id] = ends
	s.chat.remove(func(m *Message) bool { return m.ChannelID == room.id && m.UserID == r.user.id })
}

// lift is the end of a user's timeout or ban by a moderator.
type lift struct {
	at             time.Time
	room, by, user account
	banned         bool // it was a ban
}

// lift lets a user write again. It leaves out by and at. The caller holds mu.
func (s *state) lift(room *channel, userID string) lift {
	l := lift{room: room.account, user: s.accountByID(userID), banned: room.silenced[userID].permanent}
	delete(room.silenced, userID)
	return l
}

// event returns the lift in EventSub's format. Chat has no line for it.
func (l lift) event(s *eventSub) event {
	details := map[string]any{}
	l.user.describe("", details)
	if l.banned {
		return s.moderationEvent(l.at, l.room, l.by, "unban", details)
	}
	return s.moderationEvent(l.at, l.room, l.by, "untimeout", details)
}

// clear removes all messages of a channel. The caller holds mu.
func (s *state) clear(room *channel) {
	s.chat.remove(func(m *Message) bool { return m.ChannelID == room.id })
}
