package live

import (
	"fmt"
	"sync"
)

// Maximum numbers of open live feeds.
const (
	MaxFeedsOfOne = 20 // for all sessions and tokens of one name
	maxFeeds      = 500
)

// feedSlots counts the open live feeds. The zero value counts none. It is safe for concurrent use.
type feedSlots struct {
	mu  sync.Mutex
	of  map[string]int // by the holder's name
	all int
}

// take takes a slot for a holder and returns "". The holder must call leave later. If no slot is
// free, take returns the reason instead.
func (s *feedSlots) take(name string) (reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.of[name] >= MaxFeedsOfOne:
		return fmt.Sprintf("%d live feeds are open under your name", MaxFeedsOfOne)
	case s.all >= maxFeeds:
		return fmt.Sprintf("%d live feeds are open", maxFeeds)
	}
	if s.of == nil {
		s.of = map[string]int{}
	}
	s.of[name]++
	s.all++
	return ""
}

func (s *feedSlots) leave(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.of[name]--; s.of[name] == 0 {
		delete(s.of, name)
	}
}
