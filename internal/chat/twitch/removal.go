package twitch

import (
	"cmp"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/chatguard/chatguard/internal/chat"
)

// maxSilence bounds the length of a timeout that is believed, in seconds: a hundred times what Twitch allows.
const maxSilence = 100 * 1_209_600

// parseRemoval reads a line that says that messages are gone, a CLEARMSG or a CLEARCHAT; roomID is the channel's, for a line that doesn't tell.
// The error is a SkipReason: a line that lacks an ID would say more than was meant.
func parseRemoval(line rawLine, roomID string) (chat.Removal, error) {
	r := chat.Removal{ChannelID: cmp.Or(line.tag("room-id"), roomID), At: sentAt(line.tag("tmi-sent-ts"))}
	read := readSilence
	if line.command == "CLEARMSG" {
		read = readDelete
	}
	if err := cmp.Or(read(line, &r), checkRemoval(&r)); err != nil {
		return chat.Removal{}, err
	}
	return r, nil
}

// readDelete reads which message a CLEARMSG took away.
func readDelete(line rawLine, r *chat.Removal) error {
	if r.MessageID = line.tag("target-msg-id"); r.MessageID == "" {
		return NoMessageID
	}
	return nil
}

// readSilence reads whom a CLEARCHAT silenced, and for how long. One that names nobody cleared the whole chat.
func readSilence(line rawLine, r *chat.Removal) error {
	r.UserID = line.tag("target-user-id")
	length := line.tag("ban-duration")
	switch {
	case r.UserID == "" && (line.params != line.target() || length != ""):
		return NoUserID
	case r.UserID == "":
		return nil
	case length == "":
		r.Banned = true
		return nil
	}
	seconds, err := strconv.ParseInt(length, 10, 64)
	if err != nil || seconds < 1 || seconds > maxSilence {
		return Malformed
	}
	r.Silence = time.Duration(seconds) * time.Second
	return nil
}

// checkRemoval says what a removal lacks to be told.
func checkRemoval(r *chat.Removal) error {
	if r.ChannelID == "" {
		return NoRoomID
	}
	for _, id := range []string{r.ChannelID, r.MessageID, r.UserID} {
		if hasControl(id) || !utf8.ValidString(id) {
			return Malformed
		}
	}
	return nil
}
