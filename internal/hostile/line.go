package hostile

import (
	"strings"
	"unicode"
)

// OneLine returns text as one line of valid UTF-8, for a chat, a log or a status. most is the
// maximum length in characters. OneLine replaces each run of white space and control characters
// with one space, and removes those at either end. It replaces each run of invalid bytes with a
// question mark.
func OneLine(text string, most int) string {
	words := strings.FieldsFunc(strings.ToValidUTF8(text, "?"), IsBlank)
	return strings.TrimRight(Truncate(strings.Join(words, " "), most), " ")
}

// maxDetail is the maximum number of characters of an external text in a log or status, enough to
// see what is wrong.
const maxDetail = 300

// Detail is OneLine for a log or a status, with at most 300 characters.
func Detail(text string) string { return OneLine(text, maxDetail) }

// IsBlank reports whether OneLine treats a character as white space. Control characters count as
// white space.
func IsBlank(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// Visible returns text without the characters for which IsInvisible returns true, for a terminal.
// Line breaks are kept.
func Visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && IsInvisible(r) {
			return -1
		}
		return r
	}, text)
}

// VisibleLine is Visible for one line of a terminal: line breaks become semicolons.
func VisibleLine(text string) string { return Visible(strings.ReplaceAll(text, "\n", "; ")) }

// maxPrinted is the maximum number of bytes of an external text that a terminal shows.
const maxPrinted = 400

// Printable makes an external text fit for part of a line in a terminal, with at most 400 bytes.
func Printable(text string) string {
	return ClipName(Visible(text[:min(len(text), 2*maxPrinted)]), maxPrinted)
}
