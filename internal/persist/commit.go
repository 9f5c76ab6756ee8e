package persist

import (
	"context"
	"sync"
)

// commits are those who wait until what they have changed is stored. It is safe for concurrent use.
type commits struct {
	wake chan struct{} // holds one where a flush is wanted

	mu      sync.Mutex
	waiting []chan error
	over    bool // no flush will come any more
}

func newCommits() *commits { return &commits{wake: make(chan struct{}, 1)} }

// add returns where the end of the next flush that begins will be told; it is closed when none comes.
func (c *commits) add() <-chan error {
	c.mu.Lock()
	defer c.mu.Unlock()
	told := make(chan error, 1)
	if c.over {
		close(told)
		return told
	}
	c.waiting = append(c.waiting, told)
	rouse(c.wake)
	return told
}

// rouse puts one into a channel that holds one.
func rouse(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default: // it is there already
	}
}

// take returns those who wait for the flush that is about to begin.
func (c *commits) take() []chan error {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := c.waiting
	c.waiting = nil
	return taken
}

// end tells everybody, now and later, that no flush comes any more.
func (c *commits) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	for _, told := range c.waiting {
		close(told)
	}
	c.waiting = nil
}

// Commit returns once everything that was changed before it, in the Guard or by the store's methods, is stored. saved is false where the
// database is in memory or in trouble, the context ends first, or Run has ended; what was changed then still waits to be written.
func (s *Store) Commit(ctx context.Context) (saved bool) {
	if s.lock == nil || s.health.failing() {
		return false // nothing outlives a database in memory; and nobody should wait for what is known to fail, which Run goes on trying
	}
	told := s.commits.add()
	select {
	case err, flushed := <-told:
		return flushed && err == nil
	case <-ctx.Done():
		return false
	}
}
