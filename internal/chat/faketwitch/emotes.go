package faketwitch

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// emoteID is the ID of each emote that users write.
const emoteID = "25"

// emotes returns the value of the tag emotes for a text: the positions of its words, in code
// points. It is empty unless they are emotes.
func (k messageKind) emotes(text string) string {
	if !k.isEmotes {
		return ""
	}
	var ranges []string
	at := 0
	for word := range strings.SplitSeq(text, " ") {
		end := at + utf8.RuneCountInString(word)
		ranges = append(ranges, fmt.Sprintf("%d-%d", at, end-1))
		at = end + 1
	}
	return emoteID + ":" + strings.Join(ranges, ",")
}

// fragments returns the parts of a text as EventSub describes them.
func (k messageKind) fragments(text string) []map[string]any {
	if !k.isEmotes {
		return []map[string]any{{"type": "text", "text": text}}
	}
	var parts []map[string]any
	for word := range strings.SplitSeq(text, " ") {
		if len(parts) > 0 {
			parts = append(parts, map[string]any{"type": "text", "text": " "})
		}
		parts = append(parts, map[string]any{"type": "emote", "text": word, "emote": map[string]string{"id": emoteID, "emote_set_id": "0"}})
	}
	return parts
}
