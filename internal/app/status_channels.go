package app

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
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
	lasting := slices.ContainsFunc(list[MostNotes:], func(c live.Connection) bool { return !c.Brief })
	return append(list[:MostNotes:MostNotes], live.Connection{Channel: live.SeveralChannels, Name: fmt.Sprintf("and %d more", more), State: list[0].State, Detail: hint, Brief: !lasting})
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

// standbys returns the channels in which no node acts, in which this one acts without knowing
// whether others do, and in which another one acts.
func (s *status) standbys() []live.Connection {
	if s.standby == nil {
		return nil
	}
	var unmoderated, alone, standby []live.Connection
	for _, c := range s.twitchChannels() {
		acting, known := s.standby.Acting(c.ID)
		if !known {
			continue
		}
		shown := actingState(acting, time.Now())
		shown.Channel, shown.Name = c.ID, "#"+c.Login
		switch shown.State {
		case live.Unmoderated:
			unmoderated = append(unmoderated, shown)
		case live.Alone:
			alone = append(alone, shown)
		case live.Standby:
			standby = append(standby, shown)
		}
	}
	return slices.Concat(summarize(unmoderated, ""), summarize(alone, ""), summarize(standby, ""))
}

// actingState describes who acts in a channel. It has no state if this node acts and others know
// it.
func actingState(a chat.Acting, now time.Time) (c live.Connection) {
	since, node, problem := "since "+a.Since.UTC().Format(time.RFC3339), hostile.Printable(a.Leader), hostile.Printable(a.Problem)
	switch {
	case a.Self && a.Problem != "":
		c.State, c.Since = live.Alone, a.Since
		c.Detail = since + ", because the shared store can't be used: " + problem
	case a.Self:
	case a.Leader == "":
		c.State, c.Since, c.Brief = live.Unmoderated, a.Since, now.Sub(a.Since) < chat.UsualGap
		c.Detail = since + ": " + cmp.Or(problem, "no node has begun to act in it yet")
	case a.Problem != "":
		c.State, c.Since = live.Standby, a.Since
		c.Detail = "node " + node + " acted in it before the shared store couldn't be used any more, and goes on if it still runs: " + problem
	default:
		c.State, c.Detail = live.Standby, "node "+node+" acts in it"
	}
	return c
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
