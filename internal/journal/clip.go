package journal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// What an Entry keeps of a message's texts at most, in bytes. Twitch's are shorter: names have 25 characters, and messages 500.
const (
	MaxName = 200
	MaxID   = 256 // of an ID: those of users and channels are no longer
	MaxText = 2000

	MaxAskedID = 250 // of an ID that another chat's server has for a channel or user: what stands before it there counts, too
)

// ClipName is Clip for names, which are shown in lines: it leaves control characters out.
func ClipName(text string) string {
	if hasControl(text) {
		text = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return -1
			}
			return r
		}, text[:min(len(text), 2*MaxName)])
	}
	return Clip(text, MaxName)
}

// cut stands for the rest of a text.
const cut = "…"

// Clip returns a text as valid UTF-8 of most bytes or less. One that is too long is a copy that ends with "…".
func Clip(text string, most int) string {
	text = strings.ToValidUTF8(text[:min(len(text), most+1)], "\uFFFD")
	if len(text) <= most {
		return text
	}
	end := most - len(cut)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + cut
}
