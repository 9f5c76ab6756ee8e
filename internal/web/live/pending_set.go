package live

import (
	"maps"
	"slices"
	"sync"
)

// pendingSet is a set of what a goroutine is to do next. The zero value is empty. It is safe for
// concurrent use.
type pendingSet[K comparable] struct {
	mu   sync.Mutex
	keys map[K]struct{}
	// added receives a value after an addition, unless it is full. Nil means that the goroutine
	// looks by itself.
	added chan struct{}
}

// add adds a key. It never blocks.
func (s *pendingSet[K]) add(key K) {
	s.mu.Lock()
	if s.keys == nil {
		s.keys = map[K]struct{}{}
	}
	s.keys[key] = struct{}{}
	s.mu.Unlock()
	select {
	case s.added <- struct{}{}:
	default:
	}
}

// take returns the keys in no particular order and empties the set.
func (s *pendingSet[K]) take() []K {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := slices.Collect(maps.Keys(s.keys))
	clear(s.keys)
	return taken
}
