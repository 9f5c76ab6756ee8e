package irc

import (
	"strings"
	"unicode/utf8"

	"github.com/chatguard/chatguard/internal/chat/twitch"
)

// rawLine is an IRC line split into its parts: @tags :prefix COMMAND params. The parts themselves
// aren't parsed.
type rawLine struct{ tags, prefix, command, params string }

// split splits a line into its parts, or returns why it isn't valid. An empty line has no command
// and isn't an error. split is cheap, so that unneeded lines can be skipped early.
func split(line string) (rawLine, error) {
	var r rawLine
	rest := line
	if strings.HasPrefix(rest, "@") {
		r.tags, rest, _ = strings.Cut(rest[1:], " ")
	}
	if strings.HasPrefix(rest, ":") {
		r.prefix, rest, _ = strings.Cut(rest[1:], " ")
	}
	r.command, r.params, _ = strings.Cut(rest, " ")
	if !isCommand(r.command) && line != "" {
		if !utf8.ValidString(line) {
			return rawLine{}, twitch.InvalidUTF8
		}
		return rawLine{}, twitch.Malformed
	}
	return r, nil
}

// isCommand reports whether s is an upper-case word or a number.
func isCommand(s string) bool {
	for i := range len(s) {
		if (s[i] < 'A' || s[i] > 'Z') && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return s != ""
}

// target returns the first parameter: a channel with its '#', or '*'.
func (r rawLine) target() string {
	target, _, _ := strings.Cut(r.params, " ")
	return target
}

// channel returns the login of the line's channel, or "" if it has none.
func (r rawLine) channel() string {
	if login, ok := strings.CutPrefix(r.target(), "#"); ok {
		return login
	}
	return ""
}

// isChat reports whether the line is a chat event: a message or a removal.
func (r rawLine) isChat() bool {
	return r.isMessage() || r.command == "CLEARMSG" || r.command == "CLEARCHAT"
}

// isMessage reports whether the line may be a chat message: one that a user wrote, or a notice that
// may have a user's text.
func (r rawLine) isMessage() bool { return r.command == "PRIVMSG" || r.command == userNotice }

// userNotice is the command of notices, for example about a subscription that a user shares.
const userNotice = "USERNOTICE"

// isSilent reports whether the line is a notice without a text, which nobody wrote.
func (r rawLine) isSilent() bool { return r.command == userNotice && r.text() == "" }

// text returns the trailing parameter.
func (r rawLine) text() string {
	_, text, _ := strings.Cut(r.params, " :")
	return text
}

// nick returns the sender of the line from nick!user@host or nick@host. It is empty if the prefix
// is a server's name.
func (r rawLine) nick() string {
	if end := strings.IndexAny(r.prefix, "!@"); end >= 0 {
		return r.prefix[:end]
	}
	if strings.Contains(r.prefix, ".") {
		return ""
	}
	return r.prefix
}

// tag returns a tag's value, or "" if the line doesn't have it.
func (r rawLine) tag(name string) string {
	for rest := r.tags; rest != ""; {
		var tag string
		tag, rest, _ = strings.Cut(rest, ";")
		if value, ok := strings.CutPrefix(tag, name); ok && strings.HasPrefix(value, "=") {
			return unescape(value[1:])
		}
	}
	return ""
}

// unescape decodes tag values as specified in https://ircv3.net/specs/extensions/message-tags.
// go-twitch-irc differs in two ways. It drops line breaks, which would hide that a name contains
// one. It also reads an escaped backslash before an s as a space.
func unescape(value string) string {
	if !strings.Contains(value, `\`) {
		return value
	}
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		c := value[i]
		if c == '\\' {
			if i++; i == len(value) {
				break
			}
			switch c = value[i]; c {
			case 's':
				c = ' '
			case ':':
				c = ';'
			case 'r':
				c = '\r'
			case 'n':
				c = '\n'
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}
