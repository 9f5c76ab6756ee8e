package persist

import (
	"context"
	"sync"
)

// commits holds callers that wait until their changes are stored. It is safe for concurrent use.
type commits struct {
	wake chan struct{} // holds a value if a flush is wanted
	// saves reports whether the next flush is likely to save anything. A database in memory saves
	// nothing, and if writing is known to fail, a caller shouldn't wait; Run keeps retrying.
	saves func() bool

	mu      sync.Mutex
	waiting []chan error
	over    bool // no more flushes will come, unless Run is called again
}

// add returns a channel that receives the result of the next flush to begin. If Run has ended, the
// channel is already closed.
func (c *commits) add() <-chan error {
	c.mu.Lock()
	defer c.mu.Unlock()
	told := make(chan error, 1)
	if c.over {
		close(told)
		return told
	}
	c.waiting = append(c.waiting, told)
	wakeUp(c.wake)
	return told
}

// wakeUp puts a value into a channel with a capacity of one.
func wakeUp(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default: // the channel already holds a value
	}
}

// take returns the callers that wait for the flush that is about to begin.
func (c *commits) take() []chan error {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := c.waiting
	c.waiting = nil
	return taken
}

// begin lets callers wait again, for a Run that follows another.
func (c *commits) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = false
}

// end notifies all callers, until the next begin, that no more flushes will come.
func (c *commits) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	for _, told := range c.waiting {
		close(told)
	}
	c.waiting = nil
}

// Commit returns once all earlier changes are stored, whether made in the Guard or by the store's
// methods. saved is false if the database is in memory or failing, the context ends first, or Run
// has ended. The changes are then still pending.
func (c *commits) Commit(ctx context.Context) (saved bool) {
	if !c.saves() {
		return false
	}
	told := c.add()
	select {
	case err, flushed := <-told:
		return flushed && err == nil
	case <-ctx.Done():
		return false
	}
}
