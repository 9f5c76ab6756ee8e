package faketwitch

import (
	"fmt"
	"strings"
	"time"
)

// Line is a message from a user to a channel. Channel, Login and Text are required.
type Line struct {
	Channel string // login of the channel
	Login   string // of the author
	// DisplayName is the author's; empty means the last one used, or the login.
	DisplayName string
	UserID      string // the author's; empty lets the server choose
	Badges      string // as in the tag: "moderator/1,subscriber/12"
	Text        string // of the message
	// Kind is what distinguishes the message from an ordinary one, such as "bits" or "resub"; see
	// messageKinds. A notice may have no text.
	Kind  string
	First bool // the author's first message in this channel
	// Source is the ID of the channel in which the message was written, if that is another channel
	// (Shared Chat).
	Source string
	SentAt time.Time // zero means now
	// ReplyTo is the ID of a visible message that this one answers. The server puts the name of its
	// author in front of the text.
	ReplyTo string
}

// render formats a message as Twitch does.
func render(l Line, m *Message, author account) string {
	kind := messageKinds[l.Kind]
	tags := []string{
		"badge-info=", "badges=" + l.Badges, "color=" + author.color(), "display-name=" + escape(author.displayName), "emotes=" + kind.emotes(m.Text),
		"first-msg=" + bit(l.First), "flags=", "id=" + m.ID, "mod=" + bit(strings.Contains(","+l.Badges, ",moderator/")),
		"returning-chatter=0", "room-id=" + m.ChannelID,
	}
	if l.Source != "" {
		tags = append(tags, "source-badges="+l.Badges, "source-id=source-of-"+m.ID, "source-room-id="+l.Source)
	}
	if parent := m.parent; parent.id != "" {
		tags = append(tags, "reply-parent-display-name="+escape(parent.author.displayName), "reply-parent-msg-body="+escape(parent.text),
			"reply-parent-msg-id="+parent.id, "reply-parent-user-id="+parent.author.id, "reply-parent-user-login="+parent.author.login)
	}
	tags = append(tags,
		"subscriber="+bit(strings.Contains(","+l.Badges, ",subscriber/")), fmt.Sprintf("tmi-sent-ts=%d", m.SentAt.UnixMilli()),
		"turbo=0", "user-id="+m.UserID, "user-type=")
	if tags = append(tags, kind.tags...); !kind.isNotice {
		return fmt.Sprintf("@%s :%[2]s!%[2]s@%[2]s.tmi.twitch.tv PRIVMSG #%s :%s", strings.Join(tags, ";"), m.Login, l.Channel, m.Text)
	}
	line := fmt.Sprintf("@%s;login=%s :tmi.twitch.tv USERNOTICE #%s", strings.Join(tags, ";"), m.Login, l.Channel)
	if m.Text != "" {
		line += " :" + m.Text
	}
	return line
}

var tagEscapes = strings.NewReplacer(`\`, `\\`, ";", `\:`, " ", `\s`, "\r", `\r`, "\n", `\n`)

func escape(value string) string { return tagEscapes.Replace(value) }

func bit(on bool) string {
	if on {
		return "1"
	}
	return "0"
}
