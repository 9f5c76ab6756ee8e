package journal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsPlain reports whether a text can stand in a line, and is nobody else's: what is no Unicode looks the same for all.
func IsPlain(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError })
}
