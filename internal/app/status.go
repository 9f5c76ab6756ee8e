package app

import (
	"fmt"
	"slices"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitchbot"
	"github.com/chatguard/chatguard/internal/host"
	"github.com/chatguard/chatguard/internal/hostile"
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
}

// status returns the App's status. The App has a Bot.
func (a *App) status() *status {
	return &status{a.directory, a.Host, a.Guard, a.Twitch, a.Bot, a.standby}
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

// twitchChannels returns the channels that we have joined on Twitch; joining reveals their IDs.
func (s *status) twitchChannels() []live.Channel {
	list := []live.Channel{}
	for _, c := range s.twitch.Status().Channels {
		if c.RoomID != "" {
			since, known := s.twitch.LiveSince(c.RoomID)
			list = append(list, live.Channel{ID: c.RoomID, Login: c.Login, LiveSince: since, StreamsKnown: known})
		}
	}
	return list
}

// connections returns the states shown in the dashboard: of Twitch, of the token, and of channels
// with a temporary state or a problem.
func (s *status) connections() []live.Connection {
	list := []live.Connection{}
	if s.twitch.Tokens() != nil {
		list = s.addTwitch(list)
	}
	list = append(list, s.unusedChanges()...)
	list = append(list, s.standbys()...)
	slowed := s.bot.Slowed()
	notes, noted := s.twitch.Observing(), 0
	for _, c := range s.channels() {
		name, on := "#"+c.Login, s.host.Controls.Switches(c.ID)
		if on.PausedBy != "" {
			list = append(list, live.Connection{Channel: c.ID, Name: name, State: live.Paused, Detail: "by " + on.PausedBy})
		}
		if !on.RaidUntil.IsZero() {
			list = append(list, live.Connection{Channel: c.ID, Name: name, State: live.RaidMode, Detail: "for " + chatguard.FormatWait(on.RaidUntil.Sub(s.guard.Now())) + " more"})
		}
		if wait, ok := slowed[c.ID]; ok {
			list = append(list, live.Connection{Channel: c.ID, Name: name, State: live.SlowMode, Detail: fmt.Sprintf("one message every %s: the flood exceeds Twitch's request limit", wait)})
		}
		note := notes[c.ID]
		if note == "" {
			continue
		}
		if noted++; noted <= MostNotes {
			list = append(list, live.Connection{Channel: c.ID, Name: name, State: live.Observing, Detail: note})
		}
	}
	if more := noted - MostNotes; more > 0 {
		list = append(list, live.Connection{Channel: live.SeveralChannels, Name: fmt.Sprintf("and %d more", more), State: live.Observing, Detail: "`chatguard doctor` names them all"})
	}
	return list
}

// standbys returns the channels in which another node acts.
func (s *status) standbys() (list []live.Connection) {
	if s.standby == nil {
		return nil
	}
	others := 0
	for _, c := range s.twitchChannels() {
		node, known := s.standby.Leader(c.ID)
		if !known || s.standby.Leads(c.ID) {
			continue
		}
		if others++; others > MostNotes {
			continue
		}
		detail := "no node acts in it yet"
		if node != "" {
			detail = "node " + hostile.Printable(node) + " acts in it"
		}
		list = append(list, live.Connection{Channel: c.ID, Name: "#" + c.Login, State: live.Standby, Detail: detail})
	}
	if more := others - MostNotes; more > 0 {
		list = append(list, live.Connection{Channel: live.SeveralChannels, Name: fmt.Sprintf("and %d more", more), State: live.Standby})
	}
	return list
}

// unusedChanges returns the live changes that can't be used. It omits channels whose policy has
// been changed since.
func (s *status) unusedChanges() (list []live.Connection) {
	for _, change := range s.host.Policies.LeftOut() {
		name := s.directory.name(change.ChannelID)
		list = append(list, live.Connection{Channel: change.ChannelID, Name: "#" + name, State: live.LeftOut, Detail: unusableRevision(change, name)})
	}
	return list
}

// addTwitch adds the states of Twitch to the list.
func (s *status) addTwitch(list []live.Connection) []live.Connection {
	list = append(list, readingState(s.twitch, time.Now()))
	if token, ok := tokenState(s.twitch); ok && (token.State != live.Valid || token.Detail != "") || s.enforces() {
		list = append(list, token)
		if helix, ok := helixState(s.twitch.Helix()); ok {
			list = append(list, helix)
		}
	}
	return list
}

// MostNotes is how many channels with a problem are shown individually.
const MostNotes = 5

// enforces reports whether the policy of any Twitch channel enforces; a token is needed only then.
// For a channel whose ID is not known yet, it uses the configured policy.
func (s *status) enforces() bool {
	known := map[string]bool{}
	for _, c := range s.twitchChannels() {
		known[c.Login] = true
		if s.guard.ChannelPolicy(c.ID).Mode == chatguard.Enforce {
			return true
		}
	}
	cfg := s.directory.config()
	return slices.ContainsFunc(cfg.Twitch.Channels, func(login string) bool {
		policy, ok := cfg.OwnPolicy(login)
		if !ok {
			policy = cfg.Policy
		}
		return !known[login] && policy.Mode == chatguard.Enforce
	})
}
