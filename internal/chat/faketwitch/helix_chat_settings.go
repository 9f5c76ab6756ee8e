package faketwitch

import (
	"encoding/json"
	"net/http"
)

// getChatSettings returns a channel's chat settings, which anyone may read.
func (s *helixServer) getChatSettings(c call) reply {
	room := s.channelByID(c.query.Get("broadcaster_id"))
	if room == nil {
		return refusal(http.StatusNotFound, "The broadcaster was not found.")
	}
	return room.settings()
}

// changeChatSettings turns modes on or off.
func (s *helixServer) changeChatSettings(c call, room *channel) reply {
	var body settingsBody
	if json.Unmarshal(c.body, &body) != nil {
		body = settingsBody{}
	}
	if problem := body.problem(); problem != "" {
		return refusal(http.StatusBadRequest, problem)
	}
	change := room.changeModes(body, c.user, c.at)
	if body.SlowMode != nil {
		add(&s.asked.slowModes, SlowMode{At: c.at, ChannelID: room.id, On: *body.SlowMode, Wait: room.modes.slow.wait})
	}
	answer := room.settings()
	answer.then = func() { s.delivery.announceModes(change) }
	return answer
}

// settings returns a channel's chat settings in Twitch's format.
func (c *channel) settings() reply {
	all := c.modes.settings()
	all["broadcaster_id"] = c.id
	return listReply([]any{all})
}

// ChangeModes changes modes of a channel's chat in the name of the broadcaster. settings are those
// of Helix in JSON, such as {"emote_mode":true}. It ignores an unknown channel, and settings that
// Twitch refuses.
func (s *Server) ChangeModes(channelLogin, settings string) {
	var body settingsBody
	if json.Unmarshal([]byte(settings), &body) != nil || body.problem() != "" {
		return
	}
	var change modesChange
	s.locked(func() {
		if room := s.channels[channelLogin]; room != nil {
			change = room.changeModes(body, room.account, s.opts.Now())
		}
	})
	s.announceModes(change)
}

// Modes returns the modes of a channel's chat, as Helix names them. The numbers of modes that are
// off are nil. It returns nil for an unknown channel.
func (s *state) Modes(channelLogin string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if room := s.channels[channelLogin]; room != nil {
		return room.modes.settings()
	}
	return nil
}
