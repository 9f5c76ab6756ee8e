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

// Twitch's bounds on what one account sends.
const (
	maxText      = 500 // characters
	sendPeriod   = 30 * time.Second
	sendAsUser   = 20                     // messages in a period
	sendAsKeeper = 100                    // the same where the sender is a moderator or the broadcaster
	sendGap      = 900 * time.Millisecond // between two messages in a channel: about a second
	sendBan      = 30 * time.Minute       // for which everything is ignored of who sends more
)

// Sent is a message that was sent on request.
type Sent struct {
	At        time.Time
	ChannelID string
	MessageID string
	UserID    string // of the sender
	Text      string
	ReplyTo   string // ID of the message that it answers; empty where it answers none
}

// Sent returns the messages that were sent on request, without those that were dropped.
func (s *Server) Sent() []Sent { return copied(s, &s.asked.sent) }

// sendMessage lets the token's user say something in a channel.
func (s *Server) sendMessage(c call) reply {
	var body struct {
		BroadcasterID string `json:"broadcaster_id"`
		SenderID      string `json:"sender_id"`
		Message       string `json:"message"`
		ReplyTo       string `json:"reply_parent_message_id"`
	}
	if json.Unmarshal(c.body, &body) != nil {
		return refuse(http.StatusBadRequest, "The request body is not valid JSON.")
	}
	room := s.channelByID(body.BroadcasterID)
	switch {
	case body.SenderID != c.user.id:
		return refuse(http.StatusUnauthorized, "The ID in sender_id must match the user ID found in the request's OAuth token.")
	case room == nil:
		return refuse(http.StatusBadRequest, "The broadcaster_id is not valid.")
	case body.Message == "" || strings.ContainsFunc(body.Message, unicode.IsControl):
		return refuse(http.StatusBadRequest, "The message field must hold a line of text.")
	case utf8.RuneCountInString(body.Message) > maxText:
		return refuse(http.StatusUnprocessableEntity, "The message is too large.")
	}
	return s.send(c, room, Sent{At: c.at, ChannelID: room.id, UserID: c.user.id, Text: body.Message, ReplyTo: body.ReplyTo})
}

// send says what was asked for, unless Twitch would drop it.
func (s *Server) send(c call, room *channel, m Sent) reply {
	badges, most := "", sendAsUser
	switch {
	case c.user.id == room.id:
		badges, most = "broadcaster/1", sendAsKeeper
	case s.moderates(c.user, room):
		badges, most = "moderator/1", sendAsKeeper
	}
	if m.At.Before(s.ignored[m.UserID]) {
		return dropped("msg_ratelimit")
	}
	code, excess := s.asked.tooMuch(m, most)
	if excess {
		s.ignored[m.UserID] = m.At.Add(sendBan)
	}
	if code != "" {
		return dropped(code)
	}
	line := Line{Channel: room.login, Login: c.user.login, Badges: badges, Text: m.Text}
	id, raw, err := s.take(line)
	switch {
	case errors.Is(err, ErrSlow):
		return dropped("msg_slowmode")
	case err != nil:
		return dropped("msg_timedout")
	}
	m.MessageID = id
	add(&s.asked.sent, m)
	answer := tell([]any{map[string]any{"message_id": id, "is_sent": true}})
	answer.then = func() { s.spread(line, id, raw) }
	return answer
}

// tooMuch is why a message is dropped that follows too closely on others of its sender, empty where it doesn't, and whether it is one in excess of
// what a sender has in a period.
func (r *record) tooMuch(m Sent, most int) (code string, excess bool) {
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

// dropReasons are Twitch's words for why a message isn't shown.
var dropReasons = map[string]string{
	"msg_duplicate": "Your message is identical to the one you sent less than 30 seconds ago.",
	"msg_ratelimit": "Your message was not sent because you are sending messages too quickly.",
	"msg_slowmode":  "This room is in slow mode and you are sending messages too quickly.",
	"msg_timedout":  "You are timed out or banned in this channel.",
}

// dropped is the answer for a message that isn't shown: no failure, as HTTP goes.
func dropped(code string) reply {
	return tell([]any{map[string]any{
		"message_id": "", "is_sent": false, "drop_reason": map[string]string{"code": code, "message": dropReasons[code]},
	}})
}
