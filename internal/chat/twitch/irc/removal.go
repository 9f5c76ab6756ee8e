package irc

import (
	"cmp"
	"strconv"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch"
)

// parseRemoval parses a CLEARMSG or CLEARCHAT line, which reports removed messages. roomID is the
// channel's ID, for lines that don't contain it. The error is a SkipReason. A line without a
// required ID is an error, because it would otherwise remove more than intended.
func parseRemoval(line rawLine, roomID string) (chat.Removal, error) {
	r := chat.Removal{ChannelID: cmp.Or(line.tag("room-id"), roomID), At: parseMillis(line.tag("tmi-sent-ts"))}
	read := readSilence
	if line.command == "CLEARMSG" {
		read = readDelete
	}
	if err := cmp.Or(read(line, &r), twitch.CheckRemoval(&r)); err != nil {
		return chat.Removal{}, err
	}
	return r, nil
}

// readDelete reads from a CLEARMSG which message was removed.
func readDelete(line rawLine, r *chat.Removal) error {
	if r.MessageID = line.tag("target-msg-id"); r.MessageID == "" {
		return twitch.NoMessageID
	}
	return nil
}

// readSilence sets the user that a CLEARCHAT silenced, and the duration. A CLEARCHAT without a user
// cleared the whole chat.
func readSilence(line rawLine, r *chat.Removal) error {
	r.UserID = line.tag("target-user-id")
	length := line.tag("ban-duration")
	r.Login = line.text()
	switch {
	case r.UserID == "" && (line.params != line.target() || length != ""):
		return twitch.NoUserID
	case r.UserID == "":
		return nil
	case length == "":
		r.Banned = true
		return nil
	}
	seconds, err := strconv.ParseInt(length, 10, 64)
	if err != nil || seconds < 1 || seconds > twitch.MaxTimeout {
		return twitch.Malformed
	}
	r.Silence = time.Duration(seconds) * time.Second
	return nil
}
