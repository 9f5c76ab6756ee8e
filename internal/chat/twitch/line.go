package twitch

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SkipReason says why a line can't be read. It is an error, for errors.Is.
type SkipReason string

// The reasons.
const (
	Malformed   SkipReason = "malformed line"
	TooLong     SkipReason = "line too long"
	InvalidUTF8 SkipReason = "invalid UTF-8"
	NoUserID    SkipReason = "no user-id"
	NoRoomID    SkipReason = "no room-id"
	NoMessageID SkipReason = "no message id"
	BadName     SkipReason = "control character in a name"
)

func (r SkipReason) Error() string { return string(r) }

func reasonOf(err error) SkipReason {
	reason := Malformed
	errors.As(err, &reason)
	return reason
}

// rawLine is an IRC line cut into its parts, without looking into them: @tags :prefix COMMAND params.
type rawLine struct{ tags, prefix, command, params string }

// split cuts a line, or says why it is none. An empty line has no command and is no error. It costs little, and lets every line that
// isn't needed be passed over.
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
			return rawLine{}, InvalidUTF8
		}
		return rawLine{}, Malformed
	}
	return r, nil
}

// isCommand reports whether s is a word in capitals or a number.
func isCommand(s string) bool {
	for i := range len(s) {
		if (s[i] < 'A' || s[i] > 'Z') && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return s != ""
}

// target is the first parameter: a channel with its '#', or '*'.
func (r rawLine) target() string {
	target, _, _ := strings.Cut(r.params, " ")
	return target
}

// channel is the login of the channel that the line is about; empty where it is about none.
func (r rawLine) channel() string {
	if login, ok := strings.CutPrefix(r.target(), "#"); ok {
		return login
	}
	return ""
}

// isChat reports whether the line says what happens in a chat: a message, or that messages are gone.
func (r rawLine) isChat() bool {
	return r.command == "PRIVMSG" || r.command == "CLEARMSG" || r.command == "CLEARCHAT"
}

// text is the trailing parameter.
func (r rawLine) text() string {
	_, text, _ := strings.Cut(r.params, " :")
	return text
}

// nick is who sent the line: nick!user@host, nick@host, or a server's name, which is nobody's.
func (r rawLine) nick() string {
	if end := strings.IndexAny(r.prefix, "!@"); end >= 0 {
		return r.prefix[:end]
	}
	if strings.Contains(r.prefix, ".") {
		return ""
	}
	return r.prefix
}

// tag returns a tag's value, or nothing where the line doesn't have it.
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

// unescape undoes the escaping of tag values, as https://ircv3.net/specs/extensions/message-tags has it. (go-twitch-irc's drops line
// breaks, which would hide that a name holds one, and takes an escaped backslash before an s for a space.)
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

// hasControl reports whether s holds a line break or another control character.
func hasControl(s string) bool { return strings.IndexFunc(s, unicode.IsControl) >= 0 }

// oneLine makes text from outside fit for a log or a status: one line, without control characters, of bounded length.
func oneLine(s string) string {
	s = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(s, "?"))
	return cut(s, 300)
}

// cut shortens s to at most n characters.
func cut(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}
