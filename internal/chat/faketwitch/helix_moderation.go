package faketwitch

import (
	"encoding/json"
	"net/http"
	"time"
	"unicode/utf8"
)

// Twitch's limits.
const (
	maxReason    = 500           // characters
	maxTimeout   = 1_209_600     // seconds
	deletableFor = 6 * time.Hour // how long a message can be deleted
)

// requireModerator checks the requirements of every moderation request: the request names a channel
// and a moderator, the moderator is the token's user, and that user may moderate in the channel.
func (s *helixServer) requireModerator(endpoint func(call, *channel) reply) func(call) reply {
	return func(c call) reply {
		room := s.channelByID(c.query.Get("broadcaster_id"))
		switch {
		case c.query.Get("broadcaster_id") == "":
			return refusal(http.StatusBadRequest, "The broadcaster_id query parameter is required.")
		case c.query.Get("moderator_id") == "":
			return refusal(http.StatusBadRequest, "The moderator_id query parameter is required.")
		case c.query.Get("moderator_id") != c.user.id:
			return refusal(http.StatusUnauthorized, "The ID in moderator_id must match the user ID found in the request's OAuth token.")
		case room == nil || !s.moderates(c.user, room):
			return refusal(http.StatusForbidden, "The user in moderator_id is not one of the broadcaster's moderators.")
		}
		return endpoint(c, room)
	}
}

// deleteMessages removes one message; without a message ID it clears the whole chat, as Twitch
// does.
func (s *helixServer) deleteMessages(c call, room *channel) reply {
	id := c.query.Get("message_id")
	if id == "" {
		add(&s.asked.clears, room.id)
		s.clear(room)
		return reply{status: http.StatusNoContent, then: func() { s.delivery.announce(removal{at: c.at, room: room.account, by: c.user}) }}
	}
	m := s.chat.byID[id]
	switch {
	case m == nil || m.ChannelID != room.id || c.at.Sub(m.SentAt) > deletableFor:
		return refusal(http.StatusNotFound, "The ID in message_id was not found.")
	case m.ofStaff:
		return refusal(http.StatusBadRequest, "You may not delete the broadcaster's messages or another moderator's messages.")
	}
	add(&s.asked.deletions, Deletion{At: c.at, Message: *m})
	s.asked.deleted++
	s.chat.removeID(id)
	return reply{status: http.StatusNoContent, then: func() { s.delivery.announce(removal{at: c.at, room: room.account, by: c.user, message: m}) }}
}

// sanctionBody is the body of a warning or a ban.
type sanctionBody struct {
	Data struct {
		UserID   string `json:"user_id"`
		Duration *int64 `json:"duration"`
		Reason   string `json:"reason"`
	} `json:"data"`
}

func (s *helixServer) warnUser(c call, room *channel) reply {
	var body sanctionBody
	if json.Unmarshal(c.body, &body) != nil || body.Data.UserID == "" {
		return refusal(http.StatusBadRequest, "The user_id field is required.")
	}
	length := utf8.RuneCountInString(body.Data.Reason)
	switch {
	case length < 1 || length > maxReason:
		return refusal(http.StatusBadRequest, "The text in the reason field must have 1 to 500 characters.")
	case room.staff[body.Data.UserID]:
		return refusal(http.StatusBadRequest, "The user specified in the user_id field may not be warned.")
	}
	room.warned[body.Data.UserID] = true
	add(&s.asked.warnings, Sanction{At: c.at, ChannelID: room.id, UserID: body.Data.UserID, Reason: body.Data.Reason})
	return listReply([]any{map[string]string{
		"broadcaster_id": room.id, "moderator_id": c.user.id, "user_id": body.Data.UserID, "reason": body.Data.Reason,
	}})
}

// banUser times a user out, or bans them permanently if the request has no duration, and purges
// their messages.
func (s *helixServer) banUser(c call, room *channel) reply {
	var body sanctionBody
	if json.Unmarshal(c.body, &body) != nil || body.Data.UserID == "" {
		return refusal(http.StatusBadRequest, "The user_id field is required.")
	}
	data := body.Data
	switch {
	case utf8.RuneCountInString(data.Reason) > maxReason:
		return refusal(http.StatusBadRequest, "The text in the reason field is too long.")
	case data.Duration != nil && (*data.Duration < 1 || *data.Duration > maxTimeout):
		return refusal(http.StatusBadRequest, "The value in the duration field is not valid.")
	case room.staff[data.UserID] && data.Duration == nil:
		return refusal(http.StatusBadRequest, "The user specified in the user_id field may not be banned.")
	case room.staff[data.UserID]:
		return refusal(http.StatusBadRequest, "The user specified in the user_id field may not be put in a timeout.")
	case room.silenced[data.UserID].permanent:
		return refusal(http.StatusBadRequest, "The user specified in the user_id field is already banned.")
	}
	given := Sanction{At: c.at, ChannelID: room.id, UserID: data.UserID, Reason: data.Reason}
	if data.Duration != nil {
		given.Length = time.Duration(*data.Duration) * time.Second
	}
	add(&s.asked.bans, given)
	silenced := removal{at: c.at, room: room.account, by: c.user, user: s.accountByID(data.UserID), length: given.Length}
	s.silence(room, silenced)
	answer := listReply([]any{map[string]any{
		"broadcaster_id": room.id, "moderator_id": c.user.id, "user_id": data.UserID, "created_at": c.at, "end_time": given.end(),
	}})
	answer.then = func() { s.delivery.announce(silenced) }
	return answer
}

// end returns the end of a timeout in the format of Twitch's answer, or null for a ban.
func (g Sanction) end() any {
	if g.Length == 0 {
		return nil
	}
	return g.At.Add(g.Length)
}

func (s *helixServer) unbanUser(c call, room *channel) reply {
	user := c.query.Get("user_id")
	if !room.silenced[user].isInForce(c.at) {
		return refusal(http.StatusBadRequest, "The user specified in the user_id query parameter is not banned.")
	}
	add(&s.asked.lifts, Sanction{At: c.at, ChannelID: room.id, UserID: user})
	lifted := s.lift(room, user)
	lifted.at, lifted.by = c.at, c.user
	return reply{status: http.StatusNoContent, then: func() { s.delivery.announceLift(lifted) }}
}
