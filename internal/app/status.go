package app

import (
	"fmt"
	"slices"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitchbot"
	"github.com/chatguard/chatguard/internal/durations"
	"github.com/chatguard/chatguard/internal/host"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/request"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/live"
)

// status provides the state of all parts for the dashboard.
type status struct {
	directory *directory
	host      *host.Host
	guard     *chatguard.Guard
	twitch    *twitchbot.Connection
	bot       *chat.Bot
	standby   *chat.Standby // nil if this node is alone

	certificate *access.KeyPair // nil without TLS
}

// channels returns the channels whose IDs are known. These are Twitch's channels, the rooms that
// the configuration names, and other rooms that servers have asked about since the start.
func (s *status) channels() []live.Channel {
	list := s.twitchChannels()
	for _, id := range slices.Concat(listedRooms(*s.directory.config()), s.directory.rooms()) {
		name, isRoom := roomName(id)
		if isRoom && !slices.ContainsFunc(list, func(c live.Channel) bool { return c.ID == id }) {
			list = append(list, live.Channel{ID: id, Login: name})
		}
	}
	return list
}

// twitchChannels returns the channels of Twitch whose IDs are known.
func (s *status) twitchChannels() []live.Channel {
	list, reading, now := []live.Channel{}, s.twitch.Status(), time.Now()
	for _, c := range reading.Channels {
		if id := s.channelID(c); id != "" {
			since, known := s.twitch.LiveSince(id)
			shown := live.Channel{ID: id, Login: c.Login, LiveSince: since, StreamsKnown: known, Unread: unreadOf(s.twitch, reading, c, now)}
			if modes, known := s.twitch.Modes().Of(id); known && c.Joined {
				shown.Modes = &modes
			}
			list = append(list, shown)
		}
	}
	return list
}

// connections returns the states shown in the dashboard: of Twitch, of the token, of a certificate
// that must be renewed, and of channels with a temporary state or a problem.
func (s *status) connections() []live.Connection {
	list := []live.Connection{}
	if s.twitch.Tokens() != nil {
		list = s.addTwitch(list)
	}
	if s.certificate != nil {
		if problem := s.certificate.Problem(time.Now()); problem != "" {
			// The detail may name files, which the moderators of a channel need not know.
			list = append(list, live.Connection{Channel: live.SeveralChannels, Name: "Certificate", State: live.NotRenewed, Detail: problem})
		}
	}
	list = slices.Concat(list, s.readings(), s.powerless(), s.unusedChanges(), s.standbys())
	slowed := s.bot.Slowed()
	for _, c := range s.channels() {
		name, on := "#"+c.Login, s.host.Controls.Switches.Of(c.ID)
		if on.PausedBy != "" {
			list = append(list, live.Connection{Channel: c.ID, Name: name, State: live.Paused, Detail: "by " + on.PausedBy})
		}
		if !on.RaidUntil.IsZero() {
			list = append(list, live.Connection{Channel: c.ID, Name: name, State: live.RaidMode, Detail: "for " + chatguard.FormatWait(on.RaidUntil.Sub(s.guard.Now())) + " more"})
		}
		if wait, ok := slowed[c.ID]; ok {
			list = append(list, live.Connection{Channel: c.ID, Name: name, State: live.SlowMode, Detail: fmt.Sprintf("one message every %s: the flood exceeds Twitch's limits", durations.Format(wait))})
		}
	}
	return list
}

// addTwitch adds the states of Twitch to the list.
func (s *status) addTwitch(list []live.Connection) []live.Connection {
	list = append(list, readingState(s.twitch, time.Now()))
	enforces := s.enforces()
	if token, ok := tokenState(s.twitch); ok && (token.State != live.Valid || token.Detail != "") || enforces {
		if enforces && token.State == live.Valid && s.lacksScope() {
			token.State = live.NotEnforcing
		}
		list = append(list, token)
		if helix, ok := helixState(s.twitch.Helix()); ok {
			list = append(list, helix)
		}
	}
	return list
}

// enforces reports whether the policy of any Twitch channel enforces; a token is needed only then.
// For a channel whose ID is not known yet, it uses the configured policy.
func (s *status) enforces() bool {
	known := map[string]bool{}
	for _, c := range s.twitchChannels() {
		known[c.Login] = true
		if s.guard.ChannelPolicy(c.ID).Mode == chatguard.ModeEnforce {
			return true
		}
	}
	cfg := s.directory.config()
	return slices.ContainsFunc(cfg.Twitch.Channels, func(login string) bool {
		return !known[login] && cfg.PolicyFor(login).Mode == chatguard.ModeEnforce
	})
}

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
		add(c.ID, c.Login, inner.Of(s.guard).Mode(c.ID))
	}
	cfg := s.directory.config()
	for _, login := range cfg.Twitch.Channels {
		if !slices.ContainsFunc(list, func(c request.Channel) bool { return c.Login == login }) {
			add("", login, cfg.PolicyFor(login).Mode)
		}
	}
	return list
}
