package faketwitch

import (
	"context"
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
	// changed is closed and replaced whenever the condition of a waitUntil may have changed.
	changed chan struct{}
}

// notifyChanged makes the callers of waitUntil check their conditions again. The caller holds mu.
func (s *state) notifyChanged() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// locked calls do while mu is held.
func (s *state) locked(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// read returns a value that mu guards.
func read[T any](s *state, value *T) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *value
}

// waitUntil waits until met returns true. met is called while mu is held, and again after each
// change. If ctx ends first, waitUntil returns the context's error.
func (s *state) waitUntil(ctx context.Context, met func() bool) error {
	for {
		s.mu.Lock()
		done, changed := met(), s.changed
		s.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
