package twitch

import (
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
)

// event is what a notification tells. It has the parts of all kinds of events, so that a frame is read in one pass, before its kind is known.
type event struct {
	ChannelID string `json:"broadcaster_user_id"`
	chatEvent
	moderateEvent
}

// chatEvent is what is told by a channel.chat.message alone.
type chatEvent struct {
	SourceChannelID string `json:"source_broadcaster_user_id"`
	UserID          string `json:"chatter_user_id"`
	Login           string `json:"chatter_user_login"`
	Name            string `json:"chatter_user_name"`
	MessageID       string `json:"message_id"`
	Message         struct {
		Text string `json:"text"`
	} `json:"message"`
	Badges []struct {
		Set string `json:"set_id"`
	} `json:"badges"`
}

// message is what was said at the given time. The error is a SkipReason.
func (e *event) message(at time.Time) (chatguard.Message, error) {
	m := chatguard.Message{
		ID:              e.MessageID,
		ChannelID:       e.ChannelID,
		SourceChannelID: e.SourceChannelID,
		User:            chatguard.User{ID: e.UserID, Login: e.Login, DisplayName: e.Name, Roles: e.roles()},
		Text:            spoken(e.Message.Text),
		SentAt:          at,
	}
	return m, complete(&m)
}

func (e *chatEvent) roles() (roles chatguard.Roles) {
	for _, badge := range e.Badges {
		if role, ok := badgeRoles[badge.Set]; ok {
			roles |= chatguard.RolesOf(role)
		}
	}
	return roles
}

// spoken takes off what marks the text of a /me.
func spoken(text string) string {
	if action, ok := strings.CutPrefix(text, "\x01ACTION "); ok {
		return strings.TrimSuffix(action, "\x01")
	}
	return text
}

// moderateEvent is what is told by a channel.moderate alone. Which of its parts is there goes by the action.
type moderateEvent struct {
	By            string    `json:"moderator_user_login"`
	Action        string    `json:"action"`
	Delete        moderated `json:"delete"`
	Timeout       moderated `json:"timeout"`
	Ban           moderated `json:"ban"`
	Mod           moderated `json:"mod"`
	Unmod         moderated `json:"unmod"`
	SharedDelete  moderated `json:"shared_chat_delete"`
	SharedTimeout moderated `json:"shared_chat_timeout"`
	SharedBan     moderated `json:"shared_chat_ban"`
}

// moderated is to whom something was done, and what.
type moderated struct {
	UserID    string    `json:"user_id"`
	MessageID string    `json:"message_id"`
	ExpiresAt eventTime `json:"expires_at"`
}

// removal is what the event took away at the given time; ok is false for one that took nothing. The error is a SkipReason: an event that lacks an
// ID would say more than was meant.
func (e *event) removal(at time.Time) (r chat.Removal, ok bool, err error) {
	r = chat.Removal{ChannelID: e.ChannelID, By: e.By, At: at}
	switch e.Action {
	case "delete":
		err = e.Delete.one(&r)
	case "shared_chat_delete":
		err = e.SharedDelete.one(&r)
	case "timeout":
		err = e.Timeout.silenced(&r)
	case "shared_chat_timeout":
		err = e.SharedTimeout.silenced(&r)
	case "ban":
		err = e.Ban.banned(&r)
	case "shared_chat_ban":
		err = e.SharedBan.banned(&r)
	case "clear":
	default:
		return chat.Removal{}, false, nil
	}
	switch {
	case err != nil:
	case hasControl(r.By):
		err = BadName
	default:
		err = checkRemoval(&r)
	}
	return r, err == nil, err
}

// one makes r the removal of one message.
func (m moderated) one(r *chat.Removal) error {
	r.MessageID, r.UserID = m.MessageID, m.UserID
	if r.MessageID == "" {
		return NoMessageID
	}
	return nil
}

// banned makes r that of all that a user wrote who was banned.
func (m moderated) banned(r *chat.Removal) error {
	r.UserID, r.Banned = m.UserID, true
	if r.UserID == "" {
		return NoUserID
	}
	return nil
}

// silenced makes r that of all that a user wrote who was timed out.
func (m moderated) silenced(r *chat.Removal) error {
	r.UserID = m.UserID
	r.Silence = m.ExpiresAt.Sub(r.At).Round(time.Second) // Twitch's clock ticks on between the two
	switch {
	case r.UserID == "":
		return NoUserID
	case m.ExpiresAt.IsZero() || r.At.IsZero() || r.Silence < 0 || r.Silence > maxSilence*time.Second:
		return Malformed
	}
	r.Silence = max(r.Silence, time.Second)
	return nil
}
