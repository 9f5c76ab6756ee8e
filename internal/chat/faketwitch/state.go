package faketwitch

import (
	"net"
	"sync"
)

// state is what all parts of the Server share: accounts, channels, messages, and what the clients
// sent.
type state struct {
	opts  Options
	botID string
	web   net.Listener   // of all that is served over HTTP
	wait  sync.WaitGroup // counts the server's goroutines

	mu sync.Mutex
	// closed and the fields below are guarded by mu.
	closed   bool
	accounts map[string]*account // by login
	channels map[string]*channel // by login
	lastID   int                 // last account number
	chat     chatLog
	asked    record
	// changed is closed and replaced whenever a client joins or leaves.
	changed chan struct{}
}

// notifyChanged notifies callers that wait for clients to join or leave. The caller holds mu.
func (s *state) notifyChanged() {
	close(s.changed)
	s.changed = make(chan struct{})
}
