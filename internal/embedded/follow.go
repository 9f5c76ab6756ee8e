package embedded

import (
	"slices"
	"sync"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// Follower is who is told of what people change by Store.Controls, as web.Server is. It must not block.
type Follower interface {
	Changed(channelID string)
	Amended(channelID, userID string)
}

// Notes are what takes note of verdicts and of what was done about throttled messages: a Store, or a web.Server.
type Notes interface {
	Observe(m chatguard.Message, v chatguard.Verdict)
	Report(o journal.Outcome)
}

// Observer tells Notes every verdict of a Guard, and that a throttled message reaches nobody.
func Observer(to Notes) func(chatguard.Message, chatguard.Verdict) {
	return func(m chatguard.Message, v chatguard.Verdict) {
		to.Observe(m, v)
		if dropped, ok := journal.Dropped(v); ok {
			to.Report(dropped)
		}
	}
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
