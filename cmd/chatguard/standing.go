package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/web"
)

// channels are those whose IDs are known, with their switches: Twitch's, those that the configuration names for servers, and whatever else servers
// have asked about since the start.
func (a *app) channels() []web.Channel {
	list := a.twitchChannels()
	for _, id := range slices.Concat(a.listedRooms(), a.web.Heard()) {
		name, isRoom := roomName(id)
		if isRoom && !slices.ContainsFunc(list, func(c web.Channel) bool { return c.ID == id }) {
			list = append(list, a.channel(id, name))
		}
	}
	return list
}

// twitchChannels are those that Twitch has let us into, which is when it tells their IDs.
func (a *app) twitchChannels() []web.Channel {
	list := []web.Channel{}
	for _, c := range a.twitch.reader.Status().Channels {
		if c.RoomID != "" {
			list = append(list, a.channel(c.RoomID, c.Login))
		}
	}
	return list
}

func (a *app) channel(id, login string) web.Channel {
	s := a.controls.Switches(id)
	return web.Channel{ID: id, Login: login, PausedBy: s.PausedBy, RaidUntil: s.RaidUntil}
}

// connections is how things stand, as the dashboard shows it: with Twitch, with the token, and with channels where something holds for a while or
// against the owner's will.
func (a *app) connections() []web.Connection {
	list := []web.Connection{}
	if a.twitch.tokens != nil {
		list = a.withTwitch(list)
	}
	list = append(list, a.unusedChanges()...)
	slowed := a.bot.Slowed()
	notes, noted := a.twitch.rights.notes(), 0
	for _, c := range a.channels() {
		name := "#" + c.Login
		if c.PausedBy != "" {
			list = append(list, web.Connection{Name: name, State: web.Paused, Detail: "by " + c.PausedBy})
		}
		if !c.RaidUntil.IsZero() {
			list = append(list, web.Connection{Name: name, State: web.RaidMode, Detail: "for " + chatguard.Wait(c.RaidUntil.Sub(a.guard.Now())) + " more"})
		}
		if wait, ok := slowed[c.ID]; ok {
			list = append(list, web.Connection{Name: name, State: web.SlowMode, Detail: fmt.Sprintf("a message every %s: more was to be acted on than Twitch allows", wait)})
		}
		note := notes[c.ID]
		if note == "" {
			continue
		}
		if noted++; noted <= mostNotes {
			list = append(list, web.Connection{Name: name, State: web.Observing, Detail: note})
		}
	}
	if more := noted - mostNotes; more > 0 {
		list = append(list, web.Connection{Name: fmt.Sprintf("and %d more", more), State: web.Observing, Detail: "`chatguard doctor` names them all"})
	}
	return list
}

// unusedChanges are the live changes that can't be used, of channels whose policy nobody has changed since.
func (a *app) unusedChanges() (list []web.Connection) {
	all := a.leftOut.all()
	for _, id := range slices.Sorted(maps.Keys(all)) {
		u := all[id]
		if a.store.LastRevision(id) != u.Number {
			continue
		}
		name := a.channelName(id)
		list = append(list, web.Connection{Name: "#" + name, State: web.LeftOut, Detail: unusableRevision(u.Revision, u.problem, name)})
	}
	return list
}

// withTwitch adds how things stand with Twitch.
func (a *app) withTwitch(list []web.Connection) []web.Connection {
	list = append(list, a.twitch.readingState(time.Now()))
	if token, ok := a.twitch.tokenState(); ok && (token.State != web.Valid || token.Detail != "") || a.enforces() {
		list = append(list, token)
		if helix, ok := a.helixState(); ok {
			list = append(list, helix)
		}
	}
	return list
}

// mostNotes is of how many channels it is said one by one what is wrong with them.
const mostNotes = 5

// enforces reports whether the policy of any of Twitch's channels, as it is stated, is to be enforced: only then is a token missed. Of a channel that Twitch has
// not told the ID of yet, the configuration counts.
func (a *app) enforces() bool {
	known := map[string]bool{}
	for _, c := range a.twitchChannels() {
		known[c.Login] = true
		if a.guard.Policy(c.ID).Mode == chatguard.Enforce {
			return true
		}
	}
	cfg := a.policies.Load()
	return slices.ContainsFunc(cfg.Twitch.Channels, func(login string) bool {
		policy, ok := cfg.OwnPolicy(login)
		if !ok {
			policy = cfg.Policy
		}
		return !known[login] && policy.Mode == chatguard.Enforce
	})
}

// fewRequests are so few that a flood would soon use them up.
const fewRequests = 100

// helixState is whether Twitch does what it is asked, and how many requests it still takes; ok is false if none are sent.
func (a *app) helixState() (c web.Connection, ok bool) {
	helix := a.twitch.helix
	if helix == nil {
		return c, false
	}
	c = web.Connection{Name: "Helix", State: web.Ample}
	left, health := helix.Left(0), helix.Health()
	refused, failed := helix.Trouble()
	switch {
	case refused != "":
		c.State, c.Detail = web.Low, refused
	case failed != "":
		c.State, c.Detail = web.Failing, failed
	case !health.Answered:
		c.State = web.Unasked
	case left < fewRequests:
		c.State, c.Detail = web.Low, fmt.Sprintf("%d requests left: what can't be sent in time is given up", left)
	}
	return c, true
}

// tokenState is how the bot's token is; ok is false where none is wanted.
func (t *twitchConnection) tokenState() (c web.Connection, ok bool) {
	s := t.tokens.Status()
	c = web.Connection{Name: "Token", State: web.Valid, Since: s.Since, Detail: s.Detail}
	switch s.State {
	case twitch.TokenMissing:
		_, needed := t.reader.(*twitch.EventSub)
		c.State = web.Missing
		if !needed { // chat is read
			c.Detail = noTokenYet
		}
		return c, needed
	case twitch.TokenRevoked:
		c.State = web.Refused
	case twitch.TokenUnknown:
		c.State = web.Unchecked
	}
	return c, true
}

// readingState is how reading the chat is.
func (t *twitchConnection) readingState(now time.Time) web.Connection {
	s := t.reader.Status()
	c := web.Connection{Name: "Twitch", State: web.Disconnected, Since: s.Since, Detail: s.Detail}
	switch s.State {
	case twitch.Connecting:
		c.State = web.Connecting
	case twitch.Connected:
		c.State, c.Detail = web.Connected, strings.Join(slices.Concat(t.withoutAccount(), notJoined(s, now)), "; ")
	}
	return c
}

// withoutAccount says why the chat is read without an account, where that isn't as it should be.
func (t *twitchConnection) withoutAccount() []string {
	if t.tokens == nil {
		return nil
	}
	return t.chat.notes(t.tokens.Status().Identity)
}

// notJoined names the channels that Twitch hasn't let us into, once that is strange: it takes 20 at once, and 2 a second then.
func notJoined(s twitch.Status, now time.Time) (problems []string) {
	patient := now.Sub(s.Since) < 10*time.Second+time.Duration(len(s.Channels))*500*time.Millisecond
	for _, c := range s.Channels {
		switch {
		case c.Problem != "":
			problems = append(problems, "#"+c.Login+": "+c.Problem)
		case !c.Joined && !patient:
			problems = append(problems, "#"+c.Login+": Twitch doesn't let us in: check the name")
		}
	}
	if more := len(problems) - mostNotes; more > 0 {
		problems = append(problems[:mostNotes], fmt.Sprintf("and %d more channels", more))
	}
	return problems
}
