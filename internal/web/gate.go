package web

import "sync"

// gate counts those inside, and lets nobody in once it is closed. The zero value is open. It is safe for concurrent use.
type gate struct {
	mu     sync.Mutex
	closed bool
	inside sync.WaitGroup
}

// enter reports whether the gate is open. Whoever has entered has to leave.
func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.inside.Add(1)
	}
	return !g.closed
}

func (g *gate) leave() { g.inside.Done() }

// close returns once everybody has left.
func (g *gate) close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.inside.Wait()
}
