package app

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/live"
)

// MostNotes is how many channels with the same problem are shown individually.
const MostNotes = 5

// summarize returns the first MostNotes of the connections, which all have the same state. If there
// are more, one further connection stands for the rest.
func summarize(list []live.Connection, hint string) []live.Connection {
	more := len(list) - MostNotes
	if more <= 0 {
		return list
	}
	return append(list[:MostNotes:MostNotes], live.Connection{Channel: live.SeveralChannels, Name: fmt.Sprintf("and %d more", more), State: list[0].State, Detail: hint})
}

// namesThem says where all channels with a problem are named.
const namesThem = "`chatguard doctor` names them all"

// readings returns the channels that aren't read, and those that are read under another name. A
// channel that is being joined isn't among them.
func (s *status) readings() []live.Connection {
	var unread, renamed []live.Connection
	for _, c := range s.twitch.Status().Channels {
		shown := live.Connection{Channel: cmp.Or(s.channelID(c), live.SeveralChannels), Name: "#" + c.Login}
		switch {
		case c.ShutOut:
			shown.State, shown.Detail = live.NotRead, c.Problem
			unread = append(unread, shown)
		case c.Now != "":
			shown.State, shown.Detail = live.Renamed, "is called "+c.Now+" on Twitch by now: correct twitch.channels"
			renamed = append(renamed, shown)
		}
	}
	return append(summarize(unread, namesThem), summarize(renamed, namesThem)...)
}

// powerless returns the channels in which chatguard can't carry out penalties. That is a problem
// where the policy enforces.
func (s *status) powerless() []live.Connection {
	notes := s.twitch.Observing()
	var failing, observing []live.Connection
	for _, c := range s.twitchChannels() {
		shown := live.Connection{Channel: c.ID, Name: "#" + c.Login, Detail: notes[c.ID]}
		switch {
		case shown.Detail == "":
		case s.guard.ChannelPolicy(c.ID).Mode == chatguard.ModeEnforce:
			shown.State = live.NotEnforcing
			failing = append(failing, shown)
		default:
			shown.State = live.Observing
			observing = append(observing, shown)
		}
	}
	for _, change := range s.host.Policies.LiveChanges() {
		if change.Unacceptable != nil && change.Policy.Mode == chatguard.ModeEnforce {
			failing = append(failing, live.Connection{
				Channel: change.ChannelID, Name: "#" + s.directory.name(change.ChannelID), State: live.NotEnforcing,
				Detail: hostile.Printable(journal.Sentence(change.Unacceptable)),
			})
		}
	}
	return append(summarize(failing, namesThem), summarize(observing, namesThem)...)
}

// lacksScope reports whether the token doesn't allow a penalty of a policy that enforces.
func (s *status) lacksScope() bool {
	for _, c := range s.twitchChannels() {
		policy := s.guard.ChannelPolicy(c.ID)
		if policy.Mode == chatguard.ModeEnforce && slices.ContainsFunc(policy.Penalties.Ladder, func(p chatguard.Penalty) bool { return s.twitch.Lacks(p.Action) }) {
			return true
		}
	}
	return false
}

// standbys returns the channels in which another node acts.
func (s *status) standbys() (list []live.Connection) {
	if s.standby == nil {
		return nil
	}
	for _, c := range s.twitchChannels() {
		node, known := s.standby.Leader(c.ID)
		if !known || s.standby.Leads(c.ID) {
			continue
		}
		detail := "no node acts in it yet"
		if node != "" {
			detail = "node " + hostile.Printable(node) + " acts in it"
		}
		list = append(list, live.Connection{Channel: c.ID, Name: "#" + c.Login, State: live.Standby, Detail: detail})
	}
	return summarize(list, "")
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
