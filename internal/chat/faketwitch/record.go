package faketwitch

import (
	"net/http"
	"net/url"
	"slices"
	"time"
)

// Request is one HTTP request that the server was asked, in the order of arrival.
type Request struct {
	At     time.Time // when it arrived
	Client string    // address that it came from
	Method string
	Path   string // "/helix/moderation/chat"
	Query  url.Values
	Header http.Header
	Body   string
	Status int // what it was answered with; 0 where the connection was cut instead
}

// Deletion is one message that was removed on request.
type Deletion struct {
	At      time.Time // when the request arrived
	Message Message   // as it stood before
}

// Sanction is what a user was given on request: a warning, a timeout or a ban.
type Sanction struct {
	At        time.Time
	ChannelID string
	UserID    string
	Length    time.Duration // of a timeout; 0 for a ban or a warning
	Reason    string
}

// Received is one line that a client of the chat sent.
type Received struct {
	At     time.Time
	Client string // its address
	Line   string
}

// record is what was asked of the server. Its lists hold the newest; the Server's mu guards it.
type record struct {
	requests    []*Request
	deletions   []Deletion
	clears      []string
	warnings    []Sanction
	bans        []Sanction
	slowModes   []SlowMode
	sent        []Sent
	lines       []Received
	deleted     int // ever
	connections int // to the chat, ever
}

// add appends to a list and forgets the oldest where it has grown too long.
func add[T any](list *[]T, item T) {
	if len(*list) >= 2*keep {
		*list = slices.Clone((*list)[keep:])
	}
	*list = append(*list, item)
}

func (r *record) addLine(line Received) { add(&r.lines, line) }

// copied returns a copy of a list of the record.
func copied[T any](s *Server, list *[]T) []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(*list)
}

// Requests returns what HTTP was asked for, oldest first: at least the newest 100,000, as in every list of the record.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := make([]Request, len(s.asked.requests))
	for i, r := range s.asked.requests {
		requests[i] = *r
	}
	return requests
}

// Deletes returns the messages that were removed one by one.
func (s *Server) Deletes() []Deletion { return copied(s, &s.asked.deletions) }

// Deleted returns how many messages were removed one by one since the start.
func (s *Server) Deleted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked.deleted
}

// Clears returns the IDs of the channels whose whole chat was cleared, by a delete without a message ID.
func (s *Server) Clears() []string { return copied(s, &s.asked.clears) }

// Warnings returns the warnings given.
func (s *Server) Warnings() []Sanction { return copied(s, &s.asked.warnings) }

// Bans returns the timeouts and bans given.
func (s *Server) Bans() []Sanction { return copied(s, &s.asked.bans) }

// Received returns the lines that clients of the chat sent.
func (s *Server) Received() []Received { return copied(s, &s.asked.lines) }

// Connections returns how many connections to the chat were accepted since the start.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked.connections
}
