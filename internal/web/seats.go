package web

import (
	"fmt"
	"sync"
)

// How many live feeds may be open.
const (
	mostFeedsOfOne = 20 // by sessions and tokens of one name
	mostFeeds      = 500
)

// seats count the live feeds that are open. The zero value has none. They are safe for concurrent use.
type seats struct {
	mu  sync.Mutex
	of  map[string]int // by the holder's name
	all int
}

// take takes a seat for a holder, who must leave it. If there is none, it returns the reason.
func (s *seats) take(name string) (reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.of[name] >= mostFeedsOfOne:
		return fmt.Sprintf("%d live feeds are open under your name", mostFeedsOfOne)
	case s.all >= mostFeeds:
		return fmt.Sprintf("%d live feeds are open", mostFeeds)
	}
	if s.of == nil {
		s.of = map[string]int{}
	}
	s.of[name]++
	s.all++
	return ""
}

func (s *seats) leave(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.of[name]--; s.of[name] == 0 {
		delete(s.of, name)
	}
}
