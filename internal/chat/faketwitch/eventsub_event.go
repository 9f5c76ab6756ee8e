package faketwitch

import (
	"fmt"
	"maps"
	"strings"
	"time"
)

// event is an event of EventSub. If it is sent several times, a subscription receives it with the
// same ID each time.
type event struct {
	kind string
	room account // the channel
	key  string  // distinguishes events of the same kind
	at   time.Time
	body map[string]any
}

// notify sends an event to everyone subscribed to its kind in its channel.
func (s *eventSub) notify(e event) {
	s.mu.Lock()
	var notices []eventNotice
	for _, session := range s.sessions {
		for _, sub := range session.subscriptions {
			if session.socket != nil && !s.faults.stalled && sub.kind == e.kind && sub.condition["broadcaster_user_id"] == e.room.id {
				text := s.frameAt(e.at, "notification", e.key+"-to-"+sub.id, sub, map[string]any{"event": e.body})
				notices = append(notices, eventNotice{session.socket, text})
			}
		}
	}
	s.mu.Unlock()
	deliver(notices)
}

// messageEvent returns a message in EventSub's format, or an empty event if the message is no
// longer visible.
func (s *eventSub) messageEvent(l Line, id string) event {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, room := s.chat.byID[id], s.channels[l.Channel].account
	if m == nil {
		return event{}
	}
	author, kind := s.account(m.Login), messageKinds[l.Kind]
	body := map[string]any{
		"chatter_user_id": m.UserID, "chatter_user_login": m.Login, "chatter_user_name": author.displayName,
		"message_id": m.ID, "message_type": "text", "color": author.color(), "badges": eventBadges(l.Badges), "cheer": nil, "reply": nil,
		"message":                    map[string]any{"text": m.Text, "fragments": kind.fragments(m.Text)},
		"source_broadcaster_user_id": nil, "source_message_id": nil, "source_badges": nil,
	}
	if parent := m.parent; parent.id != "" {
		reply := map[string]any{"parent_message_id": parent.id, "parent_message_body": parent.text}
		parent.author.describe("parent", reply)
		body["reply"] = reply
	}
	if l.Source != "" {
		body["source_broadcaster_user_id"], body["source_message_id"] = l.Source, "source-of-"+m.ID
		body["source_badges"] = eventBadges(l.Badges)
	}
	room.describe("broadcaster", body)
	maps.Copy(body, kind.event)
	e := event{kind: chatMessage, room: room, key: m.ID, at: m.SentAt, body: body}
	if kind.isNotice {
		delete(body, "message_type")
		e.kind = chatNotice
	}
	return e
}

// eventBadges converts a tag's badges to EventSub's format.
func eventBadges(tag string) []map[string]string {
	badges := []map[string]string{}
	for badge := range strings.SplitSeq(tag, ",") {
		if set, id, ok := strings.Cut(badge, "/"); ok {
			badges = append(badges, map[string]string{"set_id": set, "id": id, "info": ""})
		}
	}
	return badges
}

// moderationEvent returns a moderator's action in EventSub's format. details is nil for an action
// on the whole channel.
func (s *eventSub) moderationEvent(at time.Time, room, by account, action string, details map[string]any) event {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moderated++
	body := map[string]any{"action": action}
	if details != nil {
		body[action] = details
	}
	room.describe("broadcaster", body)
	by.describe("moderator", body)
	return event{kind: channelModerate, room: room, key: fmt.Sprintf("moderation-%d", s.moderated), at: at, body: body}
}

// event returns the removal in EventSub's format.
func (r removal) event(s *eventSub) event {
	details := map[string]any{}
	switch {
	case r.message != nil:
		details["user_id"], details["user_login"], details["user_name"] = r.message.UserID, r.message.Login, r.message.Login
		details["message_id"], details["message_body"] = r.message.ID, r.message.Text
		return s.moderationEvent(r.at, r.room, r.by, "delete", details)
	case r.user.id == "":
		return s.moderationEvent(r.at, r.room, r.by, "clear", nil)
	}
	details["reason"] = ""
	r.user.describe("", details)
	if r.length == 0 {
		return s.moderationEvent(r.at, r.room, r.by, "ban", details)
	}
	details["expires_at"] = r.at.Add(r.length).UTC()
	return s.moderationEvent(r.at, r.room, r.by, "timeout", details)
}

// dismiss announces that the bot is no longer a moderator of a room.
func (s *eventSub) dismiss(room account) {
	details := map[string]any{}
	account{s.botID, s.opts.Login, s.opts.Login}.describe("", details)
	s.notify(s.moderationEvent(s.opts.Now(), room, room, "unmod", details))
	s.RevokeSubscriptions(room.login, channelModerate, "moderator_removed")
}
