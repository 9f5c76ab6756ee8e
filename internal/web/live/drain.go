package live

import "sync"

// drainGroup counts the goroutines inside, and admits none after close. The zero value is open. It
// is safe for concurrent use.
type drainGroup struct {
	mu     sync.Mutex
	closed bool
	inside sync.WaitGroup
}

// enter enters the group and returns true if the group is open. The caller must then call leave.
func (g *drainGroup) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.inside.Add(1)
	}
	return !g.closed
}

func (g *drainGroup) leave() { g.inside.Done() }

// close closes the group and returns once all goroutines have left.
func (g *drainGroup) close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.inside.Wait()
}
