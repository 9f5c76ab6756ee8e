package twitch

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/roles"
)

// Complete returns an error if a message lacks what is needed to judge it and act on it. It clears
// optional values that can't be read.
func Complete(m *chat.Message) error {
	m.User.DisplayName = strings.Trim(m.User.DisplayName, " ")
	if hostile.HasControl(m.User.DisplayName) {
		m.User.DisplayName = ""
	}
	if hostile.HasControl(m.User.Login) {
		m.User.Login = ""
	}
	if !isColor(m.Color) {
		m.Color = ""
	}
	if !IsID(m.SourceChannelID) {
		m.SourceChannelID = ""
	}
	return CheckMessage(&m.Message)
}

// CheckMessage returns an error if a message lacks what is needed to judge it and act on it.
func CheckMessage(m *chatguard.Message) error {
	switch {
	case m.User.ID == "":
		return NoUserID
	case m.ChannelID == "":
		return NoRoomID
	case m.ID == "":
		return NoMessageID
	case IsID(m.User.ID) && IsID(m.ChannelID) && IsID(m.ID):
		return nil
	case strings.ContainsRune(m.User.ID+m.ChannelID+m.ID, utf8.RuneError):
		return InvalidUTF8
	}
	return Malformed
}

// IsID reports whether s can be an ID: visible ASCII and not empty. A server might treat a blank ID
// as missing.
func IsID(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return s != ""
}

// isColor reports whether s is a color such as "#1E90FF".
func isColor(s string) bool {
	if len(s) != len("#rrggbb") || s[0] != '#' {
		return false
	}
	return strings.Trim(s[1:], "0123456789abcdefABCDEF") == ""
}

// TrimAction removes the marks of a /me from its text.
func TrimAction(text string) string {
	if action, ok := strings.CutPrefix(text, "\x01ACTION "); ok {
		return strings.TrimSuffix(action, "\x01")
	}
	return text
}

// ReplyCommand removes what Twitch puts in front of a command that is written as a reply: the name
// of the author of the message it answers, as in "@Anna !quota". names are that author's login and
// display name; both are empty if the message is no reply. In front of any other text, the name
// stays, because people read it there.
func ReplyCommand(text string, names ...string) string {
	if typed := TrimReply(text, names...); strings.HasPrefix(typed, "!") {
		return typed
	}
	return text
}

// TrimReply returns a text without the name that Twitch puts in front of a reply, as in "@Anna no".
// names are as in ReplyCommand.
func TrimReply(text string, names ...string) string {
	mention, typed, _ := strings.Cut(text, " ")
	name, ok := strings.CutPrefix(mention, "@")
	if ok && name != "" && slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) }) {
		return typed
	}
	return text
}

// badgeRoles maps badges to roles. The tag mod=1 alone is not enough, because lead moderators lack
// it.
var badgeRoles = map[string]chatguard.Role{
	"broadcaster":    roles.Broadcaster,
	"lead_moderator": roles.LeadModerator,
	"moderator":      roles.Moderator,
	"vip":            roles.VIP,
	"subscriber":     roles.Subscriber,
	"founder":        roles.Subscriber,
}

// RoleOfBadge returns the role for a badge name, or false if the badge has no role.
func RoleOfBadge(name string) (chatguard.Role, bool) {
	role, ok := badgeRoles[name]
	return role, ok
}

// MaxMillis is the latest valid time of a message, in milliseconds since 1970. A Message's time
// lies between 1970 and 2116.
const MaxMillis = 4_600_000_000_000

// MaxTimeout is the longest timeout that is accepted from Twitch, in seconds: a hundred times what
// Twitch allows.
const MaxTimeout = 100 * 1_209_600

// CheckRemoval returns an error if a removal lacks something that is needed to report it. It
// removes a login that can't be shown.
func CheckRemoval(r *chat.Removal) error {
	if r.ChannelID == "" {
		return NoRoomID
	}
	for _, id := range []string{r.ChannelID, r.MessageID, r.UserID} {
		if hostile.HasControl(id) || !utf8.ValidString(id) {
			return Malformed
		}
	}
	if hostile.HasControl(r.Login) || !utf8.ValidString(r.Login) {
		r.Login = ""
	}
	return nil
}
