package live

import (
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
)

// sources provide what the dashboard shows but the Model doesn't record: channels with their
// switches and policies, connections, the database and the shared store. The tallies say which
// channels look raided. They are safe for concurrent use.
type sources struct {
	opts    *Options
	tallies *tallies
	modes   *modeAuthors
}

// Connections returns the connections to chats, never nil.
func (s sources) Connections() []Connection {
	if s.opts.Connections == nil {
		return []Connection{}
	}
	return append([]Connection{}, s.opts.Connections()...) // an empty list in JSON, never null
}

// Database returns the state of the database.
func (s sources) Database() journal.Database {
	if s.opts.Database == nil {
		return journal.Database{State: journal.DatabaseOff}
	}
	return s.opts.Database()
}

// Channels returns the channels that are served, with their switches.
func (s sources) Channels() []Channel {
	list := append([]Channel{}, s.opts.Channels()...) // an empty list in JSON, never null
	for i := range list {
		list[i].Timezone = inner.Of(s.opts.Guard).Timezone(list[i].ID)
		list[i].ModesBy = s.modes.author(list[i].ID, list[i].Modes)
		if s.opts.Controls != nil {
			on := s.opts.Controls.Switches.Of(list[i].ID)
			list[i].PausedBy, list[i].RaidUntil, list[i].RaidBy = on.PausedBy, on.RaidUntil, on.RaidBy
			if on.PausedBy == "" && on.RaidUntil.IsZero() {
				list[i].RaidSigns = s.tallies.raidSigns(list[i].ID)
			}
			list[i].Acts = s.acts(list[i].ID)
			settings, _ := s.opts.Controls.Settings.Of(list[i].ID)
			if list[i].Acts {
				list[i].Timeouts = settings.Timeouts
			}
			list[i].RaidLasts, list[i].RaidStartRate = settings.Raid.Lasts, settings.Raid.StartRate
		}
	}
	return list
}

// ChannelsFor returns those of the channels that a person may see.
func (s sources) ChannelsFor(who auth.Identity) []Channel {
	return NewAudience("", who).channels(s.Channels())
}

// UnidentifiedFor returns the channels whose IDs aren't known yet. Only a person who may see all
// channels sees them.
func (s sources) UnidentifiedFor(who auth.Identity) []Unidentified {
	return s.unidentified(NewAudience("", who))
}

func (s sources) unidentified(a Audience) []Unidentified {
	if s.opts.Unidentified == nil || a.only != "" {
		return nil
	}
	return s.opts.Unidentified()
}

// Shared returns the state of the shared store. It is the zero value if this node is alone. If the
// store has no problem, Problem names a row that the Guard can't read.
func (s sources) Shared() Shared {
	if s.opts.Shared == nil {
		return Shared{}
	}
	shared := s.opts.Shared()
	if shared.Mode == ShareOff {
		return Shared{}
	}
	if row := s.opts.Guard.Shared().Counts().Problem; shared.Problem == "" && row != "" {
		shared.Problem = "A row can't be read: " + row
	}
	return shared
}

// Observes reports whether a channel only observes, because its policy says so or because it is
// paused. Nobody is then throttled.
func (s sources) Observes(channelID string) bool {
	return inner.Of(s.opts.Guard).Mode(channelID) == chatguard.ModeObserve
}

// acts reports whether people can time out and ban users in a channel. The chat then reports all
// timeouts and bans.
func (s sources) acts(channelID string) bool {
	return s.opts.Controls != nil && s.opts.Controls.Silences.CanAct(channelID)
}

// liveSince returns when the channel's running stream began, or the zero time.
func (s sources) liveSince(channel string) time.Time {
	for _, c := range s.opts.Channels() {
		if c.ID == channel {
			return c.LiveSince
		}
	}
	return time.Time{}
}
