package faketwitch

import (
	"net/http"
	"net/url"
	"slices"
	"time"
)

// Request is an HTTP request to the server, recorded in order of arrival.
type Request struct {
	At     time.Time // when it arrived
	Client string    // the client's address
	Method string
	Path   string // "/helix/moderation/chat"
	Query  url.Values
	Header http.Header
	Body   string
	Status int // status of the answer; 0 if the connection was cut
}

// Deletion is one message removed through Helix.
type Deletion struct {
	At      time.Time // when the request arrived
	Message Message   // the message before the removal
}

// Sanction is a warning, a timeout or a ban given to a user through Helix.
type Sanction struct {
	At        time.Time
	ChannelID string
	UserID    string
	Length    time.Duration // duration of a timeout; 0 for a ban or a warning
	Reason    string
}

// Received is a line from a chat client.
type Received struct {
	At     time.Time
	Client string // the client's address
	Line   string
}

// SlowMode is a change of a channel's slow mode through Helix.
type SlowMode struct {
	At        time.Time
	ChannelID string
	On        bool
	Wait      time.Duration // 0 if it is off
}

// Sent is a message sent through Helix.
type Sent struct {
	At        time.Time
	ChannelID string
	MessageID string
	UserID    string // of the sender
	Text      string
	ReplyTo   string // ID of the message it answers, or empty
}

// record contains what clients sent to the server. Its lists hold the newest entries. The Server's
// mu guards it.
type record struct {
	requests    []*Request
	deletions   []Deletion
	clears      []string
	warnings    []Sanction
	bans        []Sanction
	lifts       []Sanction
	slowModes   []SlowMode
	sent        []Sent
	lines       []Received
	deleted     int // total
	connections int // total number of chat connections
}

// add appends to a list and drops the oldest entries if it is too long.
func add[T any](list *[]T, item T) {
	if len(*list) >= 2*keep {
		*list = slices.Clone((*list)[keep:])
	}
	*list = append(*list, item)
}

// copyList returns a copy of one of the record's lists.
func copyList[T any](s *state, list *[]T) []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(*list)
}

// Requests returns the HTTP requests, oldest first. Like every recorded list, it contains at least
// the newest 100,000 entries.
func (s *state) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := make([]Request, len(s.asked.requests))
	for i, r := range s.asked.requests {
		requests[i] = *r
	}
	return requests
}

// Deletes returns the messages removed individually.
func (s *state) Deletes() []Deletion { return copyList(s, &s.asked.deletions) }

// Deleted returns how many messages were removed individually since the start.
func (s *state) Deleted() int { return read(s, &s.asked.deleted) }

// Clears returns the IDs of the channels whose whole chat was cleared by a delete without a message
// ID.
func (s *state) Clears() []string { return copyList(s, &s.asked.clears) }

// Warnings returns the warnings given.
func (s *state) Warnings() []Sanction { return copyList(s, &s.asked.warnings) }

// Bans returns the timeouts and bans given.
func (s *state) Bans() []Sanction { return copyList(s, &s.asked.bans) }

// Lifts returns the lifted timeouts and bans, without lengths and reasons.
func (s *state) Lifts() []Sanction { return copyList(s, &s.asked.lifts) }

// Received returns the lines from chat clients.
func (s *state) Received() []Received { return copyList(s, &s.asked.lines) }

// Connections returns how many chat connections were accepted since the start.
func (s *state) Connections() int { return read(s, &s.asked.connections) }

// SlowModes returns the changes of slow mode through Helix.
func (s *state) SlowModes() []SlowMode { return copyList(s, &s.asked.slowModes) }

// Sent returns the messages sent through Helix, without dropped ones.
func (s *state) Sent() []Sent { return copyList(s, &s.asked.sent) }
