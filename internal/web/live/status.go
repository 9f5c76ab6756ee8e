package live

import (
	"time"

	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
)

// Channel is a chat channel that the dashboard shows.
type Channel struct {
	ID        string    `json:"id"`
	Login     string    `json:"login"`
	Timezone  string    `json:"timezone,omitempty"`  // of the channel's policy; empty for UTC
	PausedBy  string    `json:"paused_by,omitempty"` // who paused it; empty if it is not paused
	RaidUntil time.Time `json:"raid_until,omitzero"` // when raid mode ends; zero if it is off
	RaidBy    string    `json:"raid_by,omitempty"`   // who started it; empty if that isn't known
	// RaidSigns says why raid mode is proposed. It is nil if it isn't: the channel doesn't look
	// raided, or raid mode or a pause is on, or was on since it began to look so.
	RaidSigns *RaidSigns `json:"raid_signs,omitempty"`
	// LiveSince is when the channel's running stream began; zero if it is not live.
	LiveSince time.Time `json:"live_since,omitzero"`
	// StreamsKnown is true if the chat says whether the channel is live. Twitch does if the bot has
	// a token.
	StreamsKnown bool `json:"streams_known,omitempty"`
	Acts         bool `json:"acts"` // people can time users out and ban them, and switch chat modes
	// Modes are the modes of its chat as the chat last said them. It is nil while they aren't
	// known. People can switch them where Acts is true.
	Modes *journal.ChatModes `json:"modes,omitempty"`
	// ModesBy is who last switched them here. It is empty if they have changed since, and if that
	// isn't known.
	ModesBy string `json:"modes_by,omitempty"`
	// Timeouts are those that people give with one click, where they can.
	Timeouts control.Timeouts `json:"timeouts,omitzero"`
	// RaidLasts is the usual duration of raid mode. It is zero if channels have no switches.
	RaidLasts control.Duration `json:"raid_lasts,omitzero"`
	// RaidStartRate is the number of messages per second at which raid mode starts by itself; 0
	// means never.
	RaidStartRate int `json:"raid_start_rate,omitzero"`
	// Unread says why the channel isn't read now. It is nil if it is read.
	Unread *Unread `json:"unread,omitempty"`
}

// ConnectionState is the state of a connection to a chat or of a channel.
type ConnectionState string

// The states of a connection.
const (
	Connected    ConnectionState = "connected"
	Connecting   ConnectionState = "connecting"
	Disconnected ConnectionState = "disconnected"

	// IsTrouble returns false for the following states, except Refused, Missing, NotRead,
	// NotEnforcing, Unmoderated and Failing.
	Valid     ConnectionState = "valid"     // of a token: accepted by Twitch
	Refused   ConnectionState = "refused"   // of a token: no longer accepted by Twitch
	Missing   ConnectionState = "missing"   // of a token: needed, but there is none
	Unchecked ConnectionState = "unchecked" // of a token: Twitch cannot be asked
	// Observing is the state of a channel in which chatguard could not act, and whose policy only
	// observes. The detail says why.
	Observing ConnectionState = "observing"
	// Renamed is the state of a channel whose login has changed. It is read under the new login.
	Renamed ConnectionState = "renamed"
	// NotRead is the state of a channel that chatguard may not join. NotEnforcing means that the
	// policy enforces, but that penalties can't be carried out in this channel or, because of the
	// token, in any. The detail says why.
	NotRead      ConnectionState = "not read"
	NotEnforcing ConnectionState = "not enforcing"
	// NotRenewed is the state of a TLS certificate that expires soon, or whose new files can't be
	// used. The detail says which.
	NotRenewed ConnectionState = "not renewed"
	// LeftOut is the state of a channel whose live changes cannot be used. The detail says why.
	LeftOut  ConnectionState = "limits as configured"
	Paused   ConnectionState = "paused"
	RaidMode ConnectionState = "raid mode"
	// Standby is the state of a channel in which another node acts. The detail says which.
	Standby ConnectionState = "standby"
	// Unmoderated is the state of a channel in which no node acts, as far as this one knows. Alone
	// is the state of a channel in which this node acts without knowing whether others do, because
	// the shared store can't be used. The detail says since when and why.
	Unmoderated ConnectionState = "moderated by nobody"
	Alone       ConnectionState = "moderated alone"

	SlowMode ConnectionState = "slow mode"     // turned on by chatguard because of a flood
	Unasked  ConnectionState = "not asked yet" // of an API: no request has been sent yet
	Ample    ConnectionState = "ok"            // of a budget of requests
	// Low is the state of a request budget that is nearly used up: requests that cannot be sent in
	// time are dropped.
	Low ConnectionState = "low"

	Failing ConnectionState = "failing" // of an API: the last request failed
)

// IsTrouble reports whether the state keeps messages from arriving, or chatguard from acting on
// them.
func (c ConnectionState) IsTrouble() bool {
	switch c {
	case Connected, Valid, Unchecked, Observing, Renamed, NotRenewed, LeftOut, Paused, RaidMode, Standby, Alone, SlowMode, Unasked, Ample, Low:
		return false
	}
	return true
}

// IsDegraded reports whether somebody must fix something although messages arrive and chatguard
// acts on them.
func (c ConnectionState) IsDegraded() bool { return c == NotRenewed || c == Alone }

// Connection is a connection over which messages arrive, or another link between chatguard and a
// chat.
type Connection struct {
	// Name is the other side in one word, such as "Twitch".
	Name  string          `json:"name"`
	State ConnectionState `json:"state"`
	Since time.Time       `json:"since,omitzero"`
	// Detail is one line for people, with commands in `backticks`. It is empty if there is nothing
	// to add.
	Detail string `json:"detail,omitempty"`
	// Brief means that the trouble usually ends within seconds, so that it is no reason to be
	// unready yet.
	Brief bool `json:"-"`
	// Channel is the ID of the channel that the connection is about. It is SeveralChannels for
	// several channels, for one whose ID isn't known, and for the certificate. It is empty for a
	// connection of chatguard as a whole.
	Channel string `json:"-"`
}

// SeveralChannels marks a Connection that only people who may see all channels see.
const SeveralChannels = "\x00"

// Status is the state of chatguard and how busy a channel is. An empty channel means all channels.
type Status struct {
	Now            time.Time        `json:"now"`
	Connections    []Connection     `json:"connections"`
	Database       journal.Database `json:"database"`
	Shared         Shared           `json:"shared,omitzero"` // left out if this node is alone
	ThrottledUsers int              `json:"throttled_users"`
	Switches       bool             `json:"switches"` // whether channels can be paused here
	Rates
}

// Status returns the current state as an Audience sees it.
func (m *Model) Status(a Audience) Status {
	channel := a.channel
	return Status{
		Now:            m.opts.Guard.Now(),
		Connections:    a.connections(m.Connections(), m.Channels()),
		Database:       m.Database(),
		Shared:         m.Shared(),
		ThrottledUsers: m.board.len(channel),
		Switches:       m.opts.Controls != nil,
		Rates:          m.tallies.rates(channel),
	}
}

// Throttled returns the users of a channel who are throttled now, the one throttled earliest first.
// If within is positive, it adds the users who were throttled within that duration. The board keeps
// them for Recent, so a longer duration adds no more. An empty channel means all channels.
func (m *Model) Throttled(channel string, within time.Duration) []Throttled {
	now := m.opts.Guard.Now()
	m.board.expire(now)
	return m.throttledUsers(channel, func(t *Throttled) bool { return t.Held || within > 0 && t.At.After(now.Add(-within)) })
}

func (m *Model) throttledUsers(channel string, isWanted func(*Throttled) bool) []Throttled {
	rows := m.board.list(channel, isWanted)
	users := make([]Throttled, len(rows))
	for i, r := range rows {
		users[i] = r.Throttled
	}
	return users
}
