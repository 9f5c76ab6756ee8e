package irc

import (
	"strconv"

	"github.com/chatguard/chatguard/internal/journal"
)

// reportModes reports the chat modes in a ROOMSTATE. After a change, Twitch sends only the tags of
// the modes that have changed.
func (s *session) reportModes(line rawLine) {
	room := s.irc.report.RoomID(line.channel())
	if change := modesOf(line); s.irc.ModesChanged != nil && room != "" && change != (journal.ChatModesChange{}) {
		s.irc.ModesChanged(room, change)
	}
}

// modesOf returns the modes that a ROOMSTATE says. It ignores tags that can't be read.
func modesOf(line rawLine) (c journal.ChatModesChange) {
	if wait, ok := modeTag(line, "slow", 0); ok {
		c.SlowMode, c.SlowModeWait = new(wait > 0), &wait
	}
	if minutes, ok := modeTag(line, "followers-only", -1); ok {
		c.FollowerMode, c.FollowerModeDuration = new(minutes >= 0), new(max(minutes, 0))
	}
	for tag, mode := range map[string]**bool{"subs-only": &c.SubscriberMode, "emote-only": &c.EmoteMode, "r9k": &c.UniqueChatMode} {
		if on, ok := modeTag(line, tag, 0); ok {
			*mode = new(on > 0)
		}
	}
	return c
}

// modeTag returns the number in a tag. ok is false if there is none, or if it is less than least.
func modeTag(line rawLine, name string, least int) (value int, ok bool) {
	value, err := strconv.Atoi(line.tag(name))
	return value, err == nil && value >= least && value <= journal.MaxFollowerModeDuration
}
