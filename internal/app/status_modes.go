package app

import (
	"slices"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/request"
	"github.com/chatguard/chatguard/internal/web/live"
)

// modes returns the served channels with the mode of the policy in force. For a channel of
// Twitch whose ID isn't known yet, that is the configured policy.
func (s *status) modes(served []live.Channel) []request.Channel {
	list := []request.Channel{}
	joined := map[string]bool{}
	for _, c := range s.twitch.Status().Channels {
		joined[c.Login] = c.Joined
	}
	add := func(id, login string, mode chatguard.Mode) {
		_, isRoom := roomName(id)
		list = append(list, request.Channel{ID: id, Login: login, Mode: mode.String(), Read: isRoom || joined[login]})
	}
	for _, c := range served {
		add(c.ID, c.Login, s.guard.Mode(c.ID))
	}
	cfg := s.directory.config()
	for _, login := range cfg.Twitch.Channels {
		if !slices.ContainsFunc(list, func(c request.Channel) bool { return c.Login == login }) {
			add("", login, cfg.PolicyFor(login).Mode)
		}
	}
	return list
}
