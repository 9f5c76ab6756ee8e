package embedded

import (
	"slices"
	"sync"
)

// Follower is who is told of what people change by Store.Controls, as web.Server is. It must not block.
type Follower interface {
	Changed(channelID string)
	Amended(channelID, userID string)
}

// followers are told one after another. The zero value has none. It is safe for concurrent use.
type followers struct {
	mu   sync.Mutex
	list []Follower
}

// Follow lets one more be told from now on.
func (s *Store) Follow(f Follower) {
	s.followers.mu.Lock()
	defer s.followers.mu.Unlock()
	s.followers.list = append(s.followers.list, f)
}

func (f *followers) all() []Follower {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.list)
}

func (f *followers) changed(channelID string) {
	for _, one := range f.all() {
		one.Changed(channelID)
	}
}

func (f *followers) amended(channelID, userID string) {
	for _, one := range f.all() {
		one.Amended(channelID, userID)
	}
}
