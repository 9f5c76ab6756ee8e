package irc

import (
	"strings"

	"github.com/chatguard/chatguard/internal/chat/twitch"
)

// learnChannel reads a channel's ID from the first line of the channel, which also shows that we
// have joined it. It reports whether to process the line, which is so if the line's channel is
// wanted and accepted, or if the line has no channel. The parser handles lines without a channel.
func (s *session) learnChannel(line rawLine) bool {
	login := line.channel()
	if login == "" {
		return true
	}
	channel, wanted := s.irc.report.Channel(login)
	if room := line.tag("room-id"); wanted && !channel.Joined && twitch.IsID(room) {
		return s.enterChannel(login, room)
	}
	return wanted
}

// enterChannel reports that we have joined a channel, and whether we moderate there if that is
// already known. It returns false if the channel isn't accepted.
func (s *session) enterChannel(login, roomID string) bool {
	if s.irc.Vet != nil {
		if problem := s.irc.Vet(login, roomID); problem != "" {
			s.irc.report.ShutOut(login, twitch.OtherChannel, problem)
			return false
		}
	}
	if s.irc.Entered != nil {
		s.irc.Entered(login, roomID)
	}
	s.irc.report.LearnRoom(login, roomID)
	if yes, known := s.moderates[login]; known {
		s.reportModerator(roomID, yes)
	}
	return true
}

// learnModerator reads from a USERSTATE whether we moderate a channel. Twitch sends the first
// USERSTATE before the first line that contains the channel's ID.
func (s *session) learnModerator(line rawLine) {
	if s.token == "" {
		return
	}
	login, yes := line.channel(), isModerator(line)
	channel, wanted := s.irc.report.Channel(login)
	switch {
	case !wanted:
	case channel.Joined:
		s.reportModerator(channel.RoomID, yes)
	default:
		s.moderates[login] = yes
	}
}

func (s *session) reportModerator(roomID string, yes bool) {
	if s.irc.Moderates != nil {
		s.irc.Moderates(roomID, yes)
	}
}

// isModerator reports whether a USERSTATE belongs to a user who may moderate. The tag mod=1 is not
// enough, because lead moderators and broadcasters lack it.
func isModerator(line rawLine) bool {
	for badge := range strings.SplitSeq(line.tag("badges"), ",") {
		switch name, _, _ := strings.Cut(badge, "/"); name {
		case "broadcaster", "lead_moderator", "moderator":
			return true
		}
	}
	return line.tag("mod") == "1"
}
