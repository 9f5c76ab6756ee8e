package hostile

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// ClipName is like Clip, but also removes control characters. It is for names, which are shown
// within a line.
func ClipName(text string, most int) string {
	if HasControl(text) {
		text = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return -1
			}
			return r
		}, text[:min(len(text), 2*most)])
	}
	return Clip(text, most)
}

// ellipsis replaces the part of a text that was cut off.
const ellipsis = "…"

// Clip returns text as valid UTF-8; most is the maximum length in bytes. If the text is too long,
// the result is a copy that ends with "…".
func Clip(text string, most int) string {
	text = strings.ToValidUTF8(text[:min(len(text), most+1)], "\uFFFD")
	if len(text) <= most {
		return text
	}
	end := most - len(ellipsis)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + ellipsis
}

// Truncate returns the first characters of a text; most is their maximum number.
func Truncate(text string, most int) string {
	for i := range text {
		if most--; most < 0 {
			return text[:i]
		}
	}
	return text
}
