package eventsub

import (
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/roles"
)

// event is the content of a notification. It has the fields of all kinds of events, so that a frame
// is read in one pass before its kind is known.
type event struct {
	ChannelID string `json:"broadcaster_user_id"`
	chatEvent
	moderateEvent
}

// chatEvent has the fields specific to channel.chat.message and channel.chat.notification.
type chatEvent struct {
	SourceChannelID string `json:"source_broadcaster_user_id"`
	UserID          string `json:"chatter_user_id"`
	Login           string `json:"chatter_user_login"`
	Name            string `json:"chatter_user_name"`
	Color           string `json:"color"`
	MessageID       string `json:"message_id"`
	Message         struct {
		Text      string     `json:"text"`
		Fragments []fragment `json:"fragments"` // the parts of the text, in order
	} `json:"message"`
	Type  string `json:"message_type"`
	Cheer struct {
		Bits int `json:"bits"`
	} `json:"cheer"` // null in JSON without one
	RewardID   string `json:"channel_points_custom_reward_id"`
	NoticeType string `json:"notice_type"`
	Reply      struct {
		Login string `json:"parent_user_login"`
		Name  string `json:"parent_user_name"`
	} `json:"reply"` // null in JSON if the message is no reply
	Badges []struct {
		Set string `json:"set_id"`
	} `json:"badges"`
}

// fragment is a part of a text.
type fragment struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// isBlank reports whether the fragment is a text without a visible character.
func (f fragment) isBlank() bool {
	return f.Type == "text" && strings.TrimFunc(f.Text, hostile.IsUnseen) == ""
}

// emotesOnly reports whether the text consists of emotes only, apart from invisible characters and
// the name that Twitch puts in front of a reply.
func (e *chatEvent) emotesOnly() bool {
	fragments := e.Message.Fragments
	if e.Reply.Login != "" && len(fragments) > 0 && fragments[0].Type == "mention" {
		fragments = fragments[1:]
	}
	found := false
	for _, f := range fragments {
		if f.Type == "emote" {
			found = true
		} else if !f.isBlank() {
			return false
		}
	}
	return found
}

// message returns the chat message sent at the given time. The error is a SkipReason.
func (e *event) message(at time.Time) (chat.Message, error) {
	m := chat.Message{SourceChannelID: e.SourceChannelID, Color: e.Color}
	m.Message = chatguard.Message{
		ID:        e.MessageID,
		ChannelID: e.ChannelID,
		User:      chatguard.User{ID: e.UserID, Login: e.Login, DisplayName: e.Name, Roles: e.roles()},
		Text:      twitch.ReplyCommand(twitch.TrimAction(e.Message.Text), e.Reply.Login, e.Reply.Name),
		Kinds:     e.kinds(),
		SentAt:    at,
	}
	return m, twitch.Complete(&m)
}

// kinds are the kinds of messages by message_type or notice_type.
var kinds = map[string]roles.KindSet{
	"channel_points_highlighted":  roles.KindOf(roles.Highlighted),
	"channel_points_sub_only":     roles.KindOf(roles.Reward),
	"power_ups_message_effect":    roles.KindOf(roles.PowerUp),
	"power_ups_gigantified_emote": roles.KindOf(roles.PowerUp),
	"resub":                       roles.KindOf(roles.Resub),
	"watch_streak":                roles.KindOf(roles.WatchStreak),
}

func (e *chatEvent) kinds() []string {
	set := kinds[e.Type] | kinds[e.NoticeType]
	if e.Cheer.Bits > 0 {
		set |= roles.KindOf(roles.Bits)
	}
	if e.RewardID != "" {
		set |= roles.KindOf(roles.Reward)
	}
	if e.emotesOnly() {
		set |= roles.KindOf(roles.Emotes)
	}
	return set.Kinds()
}

func (e *chatEvent) roles() chatguard.Roles {
	var set roles.Set
	for _, badge := range e.Badges {
		if role, ok := twitch.RoleOfBadge(badge.Set); ok {
			set = set.With(role)
		}
	}
	return set.Roles()
}

// moderateEvent has the fields specific to channel.moderate. The action determines which of them
// are set.
type moderateEvent struct {
	By            string           `json:"moderator_user_login"`
	Action        string           `json:"action"`
	Delete        moderationTarget `json:"delete"`
	Timeout       moderationTarget `json:"timeout"`
	Ban           moderationTarget `json:"ban"`
	Mod           moderationTarget `json:"mod"`
	Unmod         moderationTarget `json:"unmod"`
	SharedDelete  moderationTarget `json:"shared_chat_delete"`
	SharedTimeout moderationTarget `json:"shared_chat_timeout"`
	SharedBan     moderationTarget `json:"shared_chat_ban"`

	Untimeout       moderationTarget `json:"untimeout"`
	Unban           moderationTarget `json:"unban"`
	SharedUntimeout moderationTarget `json:"shared_chat_untimeout"`
	SharedUnban     moderationTarget `json:"shared_chat_unban"`
}

// moderationTarget is the target of a moderation action.
type moderationTarget struct {
	UserID    string    `json:"user_id"`
	Login     string    `json:"user_login"`
	MessageID string    `json:"message_id"`
	ExpiresAt timestamp `json:"expires_at"`
}

// isModeChange reports whether the event changed a mode of the chat.
func (e *event) isModeChange() bool {
	switch strings.TrimSuffix(e.Action, "off") {
	case "slow", "followers", "subscribers", "emoteonly", "uniquechat":
		return true
	}
	return false
}

// lifted returns the ID of the user whose timeout or ban the event ended, or "".
func (e *event) lifted() string {
	switch e.Action {
	case "untimeout":
		return e.Untimeout.UserID
	case "unban":
		return e.Unban.UserID
	case "shared_chat_untimeout":
		return e.SharedUntimeout.UserID
	case "shared_chat_unban":
		return e.SharedUnban.UserID
	}
	return ""
}

// removal returns what the event removed at the given time. ok is false if it removed nothing. The
// error is a SkipReason. An event without a required ID is an error, because it would otherwise
// remove more than intended.
func (e *event) removal(at time.Time) (r chat.Removal, ok bool, err error) {
	r = chat.Removal{ChannelID: e.ChannelID, By: e.By, At: at}
	if hostile.HasControl(r.By) {
		r.By = "" // the removal counts nevertheless
	}
	switch e.Action {
	case "delete":
		err = e.Delete.setMessage(&r)
	case "shared_chat_delete":
		err = e.SharedDelete.setMessage(&r)
	case "timeout":
		err = e.Timeout.setTimeout(&r)
	case "shared_chat_timeout":
		err = e.SharedTimeout.setTimeout(&r)
	case "ban":
		err = e.Ban.setBan(&r)
	case "shared_chat_ban":
		err = e.SharedBan.setBan(&r)
	case "clear":
	default:
		return chat.Removal{}, false, nil
	}
	if err == nil {
		err = twitch.CheckRemoval(&r)
	}
	return r, err == nil, err
}

// setMessage makes r the removal of one message.
func (m moderationTarget) setMessage(r *chat.Removal) error {
	r.MessageID, r.UserID = m.MessageID, m.UserID
	if r.MessageID == "" {
		return twitch.NoMessageID
	}
	return nil
}

// setBan makes r the removal of all messages of a banned user.
func (m moderationTarget) setBan(r *chat.Removal) error {
	r.UserID, r.Login, r.Banned = m.UserID, m.Login, true
	if r.UserID == "" {
		return twitch.NoUserID
	}
	return nil
}

// setTimeout makes r the removal of all messages of a timed-out user.
func (m moderationTarget) setTimeout(r *chat.Removal) error {
	r.UserID, r.Login = m.UserID, m.Login
	// Round, because Twitch takes the two times at slightly different moments.
	r.Silence = m.ExpiresAt.Sub(r.At).Round(time.Second)
	switch {
	case r.UserID == "":
		return twitch.NoUserID
	case m.ExpiresAt.IsZero() || r.At.IsZero() || r.Silence < 0 || r.Silence > twitch.MaxTimeout*time.Second:
		return twitch.Malformed
	}
	r.Silence = max(r.Silence, time.Second)
	return nil
}
