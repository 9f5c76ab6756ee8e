package faketwitch

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Twitch's limits on messages from one account.
const (
	maxText      = 500 // characters
	sendPeriod   = 30 * time.Second
	sendAsUser   = 20                     // messages per period
	sendAsKeeper = 100                    // for a moderator or the broadcaster
	sendGap      = 900 * time.Millisecond // between messages in a channel: about a second
	sendBan      = 30 * time.Minute       // how long an account over the limit is ignored
)

// sendMessage sends a message to a channel as the token's user.
func (s *helixServer) sendMessage(c call) reply {
	var body struct {
		BroadcasterID string `json:"broadcaster_id"`
		SenderID      string `json:"sender_id"`
		Message       string `json:"message"`
		ReplyTo       string `json:"reply_parent_message_id"`
	}
	if json.Unmarshal(c.body, &body) != nil {
		return refusal(http.StatusBadRequest, "The request body is not valid JSON.")
	}
	room := s.channelByID(body.BroadcasterID)
	switch {
	case body.SenderID != c.user.id:
		return refusal(http.StatusUnauthorized, "The ID in sender_id must match the user ID found in the request's OAuth token.")
	case room == nil:
		return refusal(http.StatusBadRequest, "The broadcaster_id is not valid.")
	case body.Message == "" || strings.ContainsFunc(body.Message, unicode.IsControl):
		return refusal(http.StatusBadRequest, "The message field must hold a line of text.")
	case body.ReplyTo != "" && s.chat.byID[body.ReplyTo] == nil:
		return refusal(http.StatusBadRequest, "The message cannot be replied to.")
	case utf8.RuneCountInString(body.Message) > maxText:
		return refusal(http.StatusUnprocessableEntity, "The message is too large.")
	}
	return s.send(c, room, Sent{At: c.at, ChannelID: room.id, UserID: c.user.id, Text: body.Message, ReplyTo: body.ReplyTo})
}

// send sends the message, unless Twitch would drop it.
func (s *helixServer) send(c call, room *channel, m Sent) reply {
	badges, most := "", sendAsUser
	switch {
	case c.user.id == room.id:
		badges, most = "broadcaster/1", sendAsKeeper
	case s.moderates(c.user, room):
		badges, most = "moderator/1", sendAsKeeper
	}
	if m.At.Before(s.ignored[m.UserID]) {
		return dropReply("msg_ratelimit")
	}
	code, excess := s.asked.dropReason(m, most)
	if excess {
		s.ignored[m.UserID] = m.At.Add(sendBan)
	}
	if code != "" {
		return dropReply(code)
	}
	line := Line{Channel: room.login, Login: c.user.login, Badges: badges, Text: m.Text, ReplyTo: m.ReplyTo}
	id, raw, err := s.take(line)
	switch {
	case errors.Is(err, ErrSlow):
		return dropReply("msg_slowmode")
	case errors.Is(err, ErrMode):
		return dropReply("msg_emoteonly")
	case err != nil:
		return dropReply("msg_timedout")
	}
	m.MessageID = id
	add(&s.asked.sent, m)
	answer := listReply([]any{map[string]any{"message_id": id, "is_sent": true}})
	answer.then = func() { s.delivery.spread(line, id, raw) }
	return answer
}

// dropReason returns why Twitch drops a message that follows its sender's other messages too
// closely, or "" if Twitch doesn't drop it. excess is true if the sender exceeds the limit per
// period.
func (r *record) dropReason(m Sent, most int) (code string, excess bool) {
	recent := 0
	for i := len(r.sent) - 1; i >= 0 && m.At.Sub(r.sent[i].At) < sendPeriod; i-- {
		if r.sent[i].UserID != m.UserID {
			continue
		}
		recent++
		switch {
		case code != "" || r.sent[i].ChannelID != m.ChannelID:
		case r.sent[i].Text == m.Text:
			code = "msg_duplicate"
		case m.At.Sub(r.sent[i].At) < sendGap:
			code = "msg_ratelimit"
		}
	}
	if recent >= most {
		return "msg_ratelimit", true
	}
	return code, false
}

// dropReasons are Twitch's texts for why a message isn't shown.
var dropReasons = map[string]string{
	"msg_duplicate": "Your message is identical to the one you sent less than 30 seconds ago.",
	"msg_ratelimit": "Your message was not sent because you are sending messages too quickly.",
	"msg_slowmode":  "This room is in slow mode and you are sending messages too quickly.",
	"msg_emoteonly": "This room is in emote only mode.",
	"msg_timedout":  "You are timed out or banned in this channel.",
}

// dropReply returns the answer for a message that isn't shown. Its HTTP status is the same as for
// success.
func dropReply(code string) reply {
	return listReply([]any{map[string]any{
		"message_id": "", "is_sent": false, "drop_reason": map[string]string{"code": code, "message": dropReasons[code]},
	}})
}
