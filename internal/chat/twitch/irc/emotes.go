package irc

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/hostile"
)

// maxEmoteText is the length in code points of the longest text in which emotes are found. Twitch's
// texts have 500 and, in replies, a name more.
const maxEmoteText = 1024

// emotesOnly reports whether a text consists of emotes only, apart from invisible characters and
// the name in front of a reply. tag is the value of the tag emotes: for each emote, the code points
// of the text that show it, as in "25:0-4,6-10/1902:12-16". If one of these ranges is invalid, the
// result is false. names are as in twitch.ReplyCommand.
func emotesOnly(tag, text string, names ...string) bool {
	if tag == "" {
		return false
	}
	var shown codePoints
	for emote := range strings.SplitSeq(tag, "/") {
		_, ranges, _ := strings.Cut(emote, ":")
		for one := range strings.SplitSeq(ranges, ",") {
			first, last, _ := strings.Cut(one, "-")
			if !shown.add(first, last) {
				return false
			}
		}
	}
	said := twitch.TrimReply(text, names...)
	at := utf8.RuneCountInString(text[:len(text)-len(said)])
	for _, r := range said {
		if at >= maxEmoteText || !shown.has(at) && !hostile.IsUnseen(r) {
			return false
		}
		at++
	}
	return shown.end <= at
}

// codePoints are positions in a text.
type codePoints struct {
	bits [maxEmoteText / 64]uint64
	end  int // after the last one
}

func (c *codePoints) has(at int) bool { return c.bits[at/64]>>(at%64)&1 != 0 }

// add adds a range, with its last position. It returns false if the range is invalid, too long, or
// has a position that was added before.
func (c *codePoints) add(first, last string) bool {
	from, err := strconv.ParseUint(first, 10, 16)
	to, err2 := strconv.ParseUint(last, 10, 16)
	if err != nil || err2 != nil || from > to || to >= maxEmoteText {
		return false
	}
	for at := int(from); at <= int(to); at++ {
		if c.has(at) {
			return false
		}
		c.bits[at/64] |= 1 << (at % 64)
	}
	c.end = max(c.end, int(to)+1)
	return true
}
