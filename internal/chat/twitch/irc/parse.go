package irc

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	twitchirc "github.com/gempir/go-twitch-irc/v4"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/roles"
)

// Parse parses one line of Twitch's chat from the server or from a log. The message gets the time
// in the line.
//
// ok is false if the line is not a chat message: a line from the server itself, a notice without a
// text, an empty line, or an unreadable one. For an unreadable line, err is a SkipReason. SentAt is
// zero if the line has no time. The strings share the line's memory.
func Parse(line string) (m chat.Message, ok bool, err error) {
	line = strings.TrimRight(line, "\r\n")
	raw, err := split(line)
	if err != nil || !raw.isMessage() || raw.isSilent() {
		return chat.Message{}, false, err
	}
	m, err = parseChat(line, raw)
	return m, err == nil, err
}

// ChannelOf returns the login of the channel of a chat line, or "" for any other line.
func ChannelOf(line string) string {
	raw, err := split(line)
	if err != nil || !raw.isMessage() {
		return ""
	}
	return raw.channel()
}

// parseChat parses a message; raw is the same line split into parts. The IDs of message, room
// and author must be valid. It ignores any other part that can't be read. The error is a
// SkipReason.
func parseChat(line string, raw rawLine) (m chat.Message, err error) {
	if !utf8.ValidString(line) {
		line = strings.ToValidUTF8(line, string(utf8.RuneError))
		if raw, err = split(line); err != nil {
			return m, err
		}
	}
	parsed := parseGuarded(line)
	switch {
	case parsed != nil:
		m.Message = messageOf(parsed)
	case raw.params != "":
		m.Message = raw.message()
	default:
		return m, twitch.Malformed
	}
	// Read the names from the line itself. go-twitch-irc hides control characters in them, and uses
	// the user name as the nick.
	m.User.Login, m.User.DisplayName = raw.nick(), raw.tag("display-name")
	if raw.command == userNotice { // the server sends it
		m.User.Login = raw.tag("login")
	}
	m.Color, m.SourceChannelID = raw.tag("color"), raw.tag("source-room-id")
	if strings.HasPrefix(m.Text, "@") {
		m.Text = twitch.ReplyCommand(m.Text, raw.tag("reply-parent-user-login"), raw.tag("reply-parent-display-name"))
	}
	return m, twitch.Complete(&m)
}

// messageOf returns a message without its author's names.
func messageOf(parsed *twitchirc.PrivateMessage) chatguard.Message {
	return chatguard.Message{
		ID:        parsed.ID,
		ChannelID: parsed.RoomID,
		User:      chatguard.User{ID: parsed.User.ID, Roles: rolesOf(parsed.Tags["badges"], parsed.Tags["mod"], parsed.Tags["first-msg"])},
		Text:      parsed.Message,
		Kinds:     kindsOf(func(tag string) string { return parsed.Tags[tag] }, parsed.Message),
		SentAt:    parseMillis(parsed.Tags["tmi-sent-ts"]),
	}
}

// message is like messageOf, for a notice, or a line that go-twitch-irc can't parse. The cause may
// be a detail that isn't needed here: a badge without a slash, or an emote that ends before it
// begins.
func (r rawLine) message() chatguard.Message {
	text := twitch.TrimAction(r.text())
	return chatguard.Message{
		ID:        r.tag("id"),
		ChannelID: r.tag("room-id"),
		User:      chatguard.User{ID: r.tag("user-id"), Roles: rolesOf(r.tag("badges"), r.tag("mod"), r.tag("first-msg"))},
		Text:      text,
		Kinds:     kindsOf(r.tag, text),
		SentAt:    parseMillis(r.tag("tmi-sent-ts")),
	}
}

// parseGuarded calls go-twitch-irc's parser and recovers from its panics on malformed lines. It
// returns nil if the line is no chat message.
func parseGuarded(line string) (parsed *twitchirc.PrivateMessage) {
	defer func() {
		if recover() != nil {
			parsed = nil
		}
	}()
	parsed, _ = twitchirc.ParseMessage(line).(*twitchirc.PrivateMessage)
	return parsed
}

// rolesOf returns the roles given by these tags. A badge consists of a name, a slash and a version;
// any other value stands for no role.
func rolesOf(badges, mod, firstMessage string) chatguard.Roles {
	var set roles.Set
	for badge := range strings.SplitSeq(badges, ",") {
		name, version, _ := strings.Cut(badge, "/")
		if role, ok := twitch.RoleOfBadge(name); ok && version != "" {
			set = set.With(role)
		}
	}
	if mod == "1" {
		set = set.With(roles.Moderator)
	}
	if firstMessage == "1" {
		set = set.With(roles.FirstTimer)
	}
	return set.Roles()
}

// parseMillis parses Unix milliseconds. It returns the zero time if they are invalid.
func parseMillis(millis string) time.Time {
	ms, err := strconv.ParseInt(millis, 10, 64)
	if err != nil || ms <= 0 || ms > twitch.MaxMillis {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// kinds are the kinds of messages by msg-id.
var kinds = map[string]roles.KindSet{
	"animated-message":          roles.KindOf(roles.PowerUp),
	"gigantified-emote-message": roles.KindOf(roles.PowerUp),
	"highlighted-message":       roles.KindOf(roles.Highlighted),
	"skip-subs-mode-message":    roles.KindOf(roles.Reward), // passes in subscribers-only mode
	"resub":                     roles.KindOf(roles.Resub),
	"viewermilestone":           roles.KindOf(roles.WatchStreak),
}

// kindsOf returns the kinds of a message with these tags and this text.
func kindsOf(tag func(name string) string, text string) []string {
	set := kinds[tag("msg-id")]
	if tag("bits") != "" {
		set |= roles.KindOf(roles.Bits)
	}
	if tag("custom-reward-id") != "" {
		set |= roles.KindOf(roles.Reward)
	}
	if tag("pinned-chat-paid-amount") != "" {
		set |= roles.KindOf(roles.HypeChat)
	}
	if tag("emote-only") == "1" || emotesOnly(tag("emotes"), text, tag("reply-parent-user-login"), tag("reply-parent-display-name")) {
		set |= roles.KindOf(roles.Emotes)
	}
	return set.Kinds()
}
