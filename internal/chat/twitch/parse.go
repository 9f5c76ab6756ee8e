package twitch

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	irc "github.com/gempir/go-twitch-irc/v4"

	"github.com/chatguard/chatguard"
)

// Parse reads one line of Twitch's chat, as it came from the server or from a log, with the time it was sent as given.
//
// ok is false for a line that holds no chat message: one of the server's own, an empty one, or one that can't be read, for which err is a
// SkipReason. SentAt is zero where the line gives no time. The strings share the line's memory.
func Parse(line string) (m chatguard.Message, ok bool, err error) {
	line = strings.TrimRight(line, "\r\n")
	raw, err := split(line)
	if err != nil || raw.command != "PRIVMSG" {
		return chatguard.Message{}, false, err
	}
	m, err = parseChat(line, raw)
	return m, err == nil, err
}

// ChannelOf returns the login of the channel that a line of Twitch's chat went to; empty for a line of another kind.
func ChannelOf(line string) string {
	raw, err := split(line)
	if err != nil || raw.command != "PRIVMSG" {
		return ""
	}
	return raw.channel()
}

// parseChat reads a PRIVMSG line, which raw is the parts of. It needs IDs that can be read, of message, room and author; what else can't be read is as
// good as not there. The error is a SkipReason.
func parseChat(line string, raw rawLine) (m chatguard.Message, err error) {
	if !utf8.ValidString(line) {
		line = strings.ToValidUTF8(line, string(utf8.RuneError))
		if raw, err = split(line); err != nil {
			return m, err
		}
	}
	parsed := parseGuarded(line)
	switch {
	case parsed != nil:
		m = messageOf(parsed)
	case raw.params != "":
		m = raw.message()
	default:
		return m, Malformed
	}
	// Names are read from the line itself: go-twitch-irc hides control characters in them, and takes the user name for the nick.
	m.User.Login, m.User.DisplayName = raw.nick(), raw.tag("display-name")
	return m, complete(&m)
}

// messageOf is a message but for its author's names.
func messageOf(parsed *irc.PrivateMessage) chatguard.Message {
	return chatguard.Message{
		ID:              parsed.ID,
		ChannelID:       parsed.RoomID,
		User:            chatguard.User{ID: parsed.User.ID, Roles: rolesOf(parsed.Tags["badges"], parsed.Tags["mod"], parsed.Tags["first-msg"])},
		SourceChannelID: parsed.Tags["source-room-id"],
		Text:            parsed.Message,
		SentAt:          sentAt(parsed.Tags["tmi-sent-ts"]),
	}
}

// message is messageOf for a line that go-twitch-irc gives up on, because of something that isn't needed here: a badge without a slash, or an emote
// that ends before it begins.
func (r rawLine) message() chatguard.Message {
	return chatguard.Message{
		ID:              r.tag("id"),
		ChannelID:       r.tag("room-id"),
		User:            chatguard.User{ID: r.tag("user-id"), Roles: rolesOf(r.tag("badges"), r.tag("mod"), r.tag("first-msg"))},
		SourceChannelID: r.tag("source-room-id"),
		Text:            spoken(r.text()),
		SentAt:          sentAt(r.tag("tmi-sent-ts")),
	}
}

// parseGuarded calls go-twitch-irc's parser, which panics on some malformed lines, and returns nil where it finds no chat message.
func parseGuarded(line string) (parsed *irc.PrivateMessage) {
	defer func() {
		if recover() != nil {
			parsed = nil
		}
	}()
	parsed, _ = irc.ParseMessage(line).(*irc.PrivateMessage)
	return parsed
}

// complete says what a message lacks to be judged and acted on. What it doesn't need, and can't be read, is taken out.
func complete(m *chatguard.Message) error {
	m.User.DisplayName = strings.Trim(m.User.DisplayName, " ")
	if hasControl(m.User.DisplayName) {
		m.User.DisplayName = ""
	}
	if hasControl(m.User.Login) {
		m.User.Login = ""
	}
	if !isID(m.SourceChannelID) {
		m.SourceChannelID = ""
	}
	return check(m)
}

// check says what a message lacks to be judged and acted on.
func check(m *chatguard.Message) error {
	switch {
	case m.User.ID == "":
		return NoUserID
	case m.ChannelID == "":
		return NoRoomID
	case m.ID == "":
		return NoMessageID
	case isID(m.User.ID) && isID(m.ChannelID) && isID(m.ID):
		return nil
	case strings.ContainsRune(m.User.ID+m.ChannelID+m.ID, utf8.RuneError):
		return InvalidUTF8
	}
	return Malformed
}

// badgeRoles are the badges that stand for a role. The tag mod=1 alone wouldn't do: lead moderators lack it.
var badgeRoles = map[string]chatguard.Role{
	"broadcaster":    chatguard.Broadcaster,
	"lead_moderator": chatguard.LeadModerator,
	"moderator":      chatguard.Moderator,
	"vip":            chatguard.VIP,
	"subscriber":     chatguard.Subscriber,
	"founder":        chatguard.Subscriber,
}

// rolesOf reads the tags that say which roles an author has. A badge is its name, a slash and a version; one that isn't gives no role.
func rolesOf(badges, mod, firstMessage string) chatguard.Roles {
	var roles chatguard.Roles
	for badge := range strings.SplitSeq(badges, ",") {
		name, version, _ := strings.Cut(badge, "/")
		if role, ok := badgeRoles[name]; ok && version != "" {
			roles |= chatguard.RolesOf(role)
		}
	}
	if mod == "1" {
		roles |= chatguard.RolesOf(chatguard.Moderator)
	}
	if firstMessage == "1" {
		roles |= chatguard.RolesOf(chatguard.FirstTimer)
	}
	return roles
}

// The milliseconds since 1970 that a message's time may have: a Message's time lies between 1970 and 2116.
const maxMillis = 4_600_000_000_000

// sentAt reads Unix milliseconds. What isn't a time is as good as none.
func sentAt(millis string) time.Time {
	ms, err := strconv.ParseInt(millis, 10, 64)
	if err != nil || ms <= 0 || ms > maxMillis {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}
