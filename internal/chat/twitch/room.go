package twitch

import "strings"

// reads reports whether a line comes from a channel that is read, or from none, which is the parser's to judge. The first line from a channel
// is the sign that we are in it, and tells its ID.
func (s *session) reads(line rawLine) bool {
	login := line.channel()
	if login == "" {
		return true
	}
	channel, wanted := s.irc.channel(login)
	if room := line.tag("room-id"); wanted && !channel.Joined && isID(room) {
		s.enterRoom(login, room)
	}
	return wanted
}

// enterRoom tells that we are in a channel, and whether we moderate there, where that is already known.
func (s *session) enterRoom(login, roomID string) {
	if s.irc.Entered != nil {
		s.irc.Entered(login, roomID)
	}
	s.irc.learnRoom(login, roomID)
	if yes, known := s.standing[login]; known {
		s.tellStanding(roomID, yes)
	}
}

// learnStanding takes from a USERSTATE whether we moderate a channel. Twitch sends one before the first line that tells the channel's ID.
func (s *session) learnStanding(line rawLine) {
	if s.token == "" {
		return
	}
	login, yes := line.channel(), moderates(line)
	channel, wanted := s.irc.channel(login)
	switch {
	case !wanted:
	case channel.Joined:
		s.tellStanding(channel.RoomID, yes)
	default:
		s.standing[login] = yes
	}
}

func (s *session) tellStanding(roomID string, yes bool) {
	if s.irc.Moderates != nil {
		s.irc.Moderates(roomID, yes)
	}
}

// moderates reports whether a USERSTATE is that of somebody who may moderate. The tag mod=1 alone wouldn't do: lead moderators and broadcasters
// lack it.
func moderates(line rawLine) bool {
	for badge := range strings.SplitSeq(line.tag("badges"), ",") {
		switch name, _, _ := strings.Cut(badge, "/"); name {
		case "broadcaster", "lead_moderator", "moderator":
			return true
		}
	}
	return line.tag("mod") == "1"
}
