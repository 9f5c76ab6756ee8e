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

// parseChat reads a PRIVMSG line, which raw is the parts of. The error is a SkipReason.
func parseChat(line string, raw rawLine) (m chatguard.Message, err error) {
	if !utf8.ValidString(line) {
		return m, InvalidUTF8
	}
	parsed := parseGuarded(line)
	if parsed == nil {
		return m, Malformed
	}
	// go-twitch-irc is trusted with text, tags and badges. Names are read from the line itself: it hides control characters in them, and takes
	// the user name for the nick.
	m = chatguard.Message{
		ID:        parsed.ID,
		ChannelID: parsed.RoomID,
		User: chatguard.User{
			ID:          parsed.User.ID,
			Login:       raw.nick(),
			DisplayName: strings.Trim(raw.tag("display-name"), " "),
			Roles:       rolesOf(parsed),
		},
		SourceChannelID: parsed.Tags["source-room-id"],
		Text:            parsed.Message,
		SentAt:          sentAt(parsed.Tags["tmi-sent-ts"]),
	}
	return m, check(&m)
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

// check says what a message lacks to be judged and acted on.
func check(m *chatguard.Message) error {
	switch {
	case m.User.ID == "":
		return NoUserID
	case m.ChannelID == "":
		return NoRoomID
	case m.ID == "":
		return NoMessageID
	case hasControl(m.User.Login) || hasControl(m.User.DisplayName):
		return BadName
	case hasControl(m.User.ID) || hasControl(m.ChannelID) || hasControl(m.ID) || hasControl(m.SourceChannelID):
		return Malformed
	}
	return nil
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

func rolesOf(parsed *irc.PrivateMessage) chatguard.Roles {
	var roles chatguard.Roles
	for badge := range parsed.User.Badges {
		if role, ok := badgeRoles[badge]; ok {
			roles |= chatguard.RolesOf(role)
		}
	}
	if parsed.Tags["mod"] == "1" {
		roles |= chatguard.RolesOf(chatguard.Moderator)
	}
	if parsed.FirstMessage {
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
