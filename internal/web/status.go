package web

import (
	"encoding/json"
	"net/http"
	"time"
)

// Channel is a chat that the dashboard shows.
type Channel struct {
	ID        string    `json:"id"`
	Login     string    `json:"login"`
	PausedBy  string    `json:"paused_by,omitempty"` // who paused it; empty while it isn't paused
	RaidUntil time.Time `json:"raid_until,omitzero"` // until when raid mode lasts; zero without
}

// ConnectionState says how a connection to a chat is, or how a channel stands.
type ConnectionState string

// The states of a connection.
const (
	Connected    ConnectionState = "connected"
	Connecting   ConnectionState = "connecting"
	Disconnected ConnectionState = "disconnected"

	// These are worth knowing, and no trouble:
	Valid     ConnectionState = "valid"                // of a token: Twitch takes it
	Refused   ConnectionState = "refused"              // of a token: Twitch takes it no more
	Missing   ConnectionState = "missing"              // of a token: there is none, and one is needed
	Unchecked ConnectionState = "unchecked"            // of a token: Twitch can't be asked
	Observing ConnectionState = "observing"            // it can't act there, whatever the policy says; the detail says why
	LeftOut   ConnectionState = "limits as configured" // of a channel: what was changed live can't be used; the detail says why
	Paused    ConnectionState = "paused"
	RaidMode  ConnectionState = "raid mode"
	SlowMode  ConnectionState = "slow mode"     // we have turned it on, because of a flood
	Unasked   ConnectionState = "not asked yet" // of what is asked for things to be done
	Ample     ConnectionState = "ok"            // of a budget of requests
	Low       ConnectionState = "low"           // of a budget of requests: what can't be sent in time is given up

	Failing ConnectionState = "failing" // of what is asked for things to be done: the last request failed
)

// isTrouble reports whether messages don't come, or can't be acted on, against everyone's will.
func (c ConnectionState) isTrouble() bool {
	switch c {
	case Connected, Valid, Unchecked, Observing, LeftOut, Paused, RaidMode, SlowMode, Unasked, Ample, Low:
		return false
	}
	return true
}

// Connection is one of the connections that messages come by, or something else to know of the way to a chat.
type Connection struct {
	Name   string          `json:"name"` // what it leads to, in a word: "Twitch" is where messages come from
	State  ConnectionState `json:"state"`
	Since  time.Time       `json:"since,omitzero"`
	Detail string          `json:"detail,omitempty"` // one line for people, what to type in `backticks`; empty where there is nothing to add
}

// DatabaseState says whether what happens is being kept.
type DatabaseState string

// The states of the database.
const (
	DatabaseOK      DatabaseState = "ok"
	DatabaseFailing DatabaseState = "failing" // chat goes on in memory
	DatabaseOff     DatabaseState = "off"     // there is none
)

// Database is how the store is.
type Database struct {
	State     DatabaseState `json:"state"`
	Detail    string        `json:"detail,omitempty"` // while failing: what is wrong, and the mend, in one line
	Since     time.Time     `json:"since,omitzero"`   // when it came into this state
	LastFlush time.Time     `json:"last_flush,omitzero"`
	Lag       time.Duration `json:"-"`                 // what happened longer ago is written: the most that a crash now would lose; lag_seconds in JSON
	Queued    int           `json:"queued,omitempty"`  // records that wait to be written
	Dropped   uint64        `json:"dropped,omitempty"` // records lost since the start, because too many waited
}

// MarshalJSON writes the lag in seconds.
func (d Database) MarshalJSON() ([]byte, error) {
	type plain Database
	return json.Marshal(struct {
		plain
		LagSeconds float64 `json:"lag_seconds,omitempty"`
	}{plain(d), d.Lag.Seconds()})
}

// status is how chatguard is, and how busy a channel; the empty channel stands for all.
type status struct {
	Now            time.Time    `json:"now"`
	Connections    []Connection `json:"connections"`
	Database       Database     `json:"database"`
	ThrottledUsers int          `json:"throttled_users"`
	Switches       bool         `json:"switches"` // channels can be paused here
	Rates
}

func (s *Server) status(channel string) status {
	return status{
		Now:            s.opts.Now(),
		Connections:    s.connections(),
		Database:       s.database(),
		ThrottledUsers: s.board.len(channel),
		Switches:       s.opts.Controls != nil,
		Rates:          s.tallies.rates(channel),
	}
}

func (s *Server) connections() []Connection {
	if s.opts.Connections == nil {
		return []Connection{}
	}
	return append([]Connection{}, s.opts.Connections()...) // an empty list, never null
}

func (s *Server) database() Database {
	if s.opts.Database == nil {
		return Database{State: DatabaseOff}
	}
	return s.opts.Database()
}

// namedStatus is the status as it is told to somebody.
type namedStatus struct {
	Name string `json:"name"` // who is signed in
	status
}

// getStatus is GET /status?channel=.
func (s *Server) getStatus(w http.ResponseWriter, r *http.Request, who caller) error {
	return writeJSON(w, namedStatus{who.name, s.status(r.URL.Query().Get("channel"))})
}

// getChannels is GET /channels.
func (s *Server) getChannels(w http.ResponseWriter, _ *http.Request, _ caller) error {
	return writeJSON(w, map[string][]Channel{"channels": append([]Channel{}, s.opts.Channels()...)})
}

// getThrottled is GET /throttled?channel=; without a channel it tells of all of them.
func (s *Server) getThrottled(w http.ResponseWriter, r *http.Request, _ caller) error {
	s.board.expire(s.opts.Now())
	return writeJSON(w, map[string][]throttled{"users": s.throttledIn(r.URL.Query().Get("channel"))})
}

func (s *Server) throttledIn(channel string) []throttled {
	rows := s.board.list(channel)
	users := make([]throttled, len(rows))
	for i, r := range rows {
		users[i] = r.throttled
	}
	return users
}
