package web

import (
	"net/http"
	"slices"
	"sync"
)

// mostCheckedChannels bounds the channels that messages are judged in for others: the Guard forgets none, and each takes 3 kB.
const mostCheckedChannels = 10_000

// checkedChannels are those that messages were judged in for others. The zero value has none. It is safe for concurrent use.
type checkedChannels struct {
	mu  sync.RWMutex
	ids map[string]struct{}
}

func (c *checkedChannels) has(id string) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	_, known := c.ids[id]
	return known
}

// add takes note of a channel where there is room, and tells entered before anybody else finds it here.
func (c *checkedChannels) add(id string, entered func(channelID string)) (room bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.ids[id]; known {
		return true
	}
	if len(c.ids) >= mostCheckedChannels {
		return false
	}
	if entered != nil {
		entered(id)
	}
	if c.ids == nil {
		c.ids = map[string]struct{}{}
	}
	c.ids[id] = struct{}{}
	return true
}

// enter takes note of a channel in which a message is to be judged, or returns the problem that there are too many. Those that are served anyway
// always have a place.
func (s *Server) enter(id string) error {
	isServed := func(served Channel) bool { return served.ID == id }
	if s.checked.has(id) || s.checked.add(id, s.opts.Entered) || slices.ContainsFunc(s.opts.Channels(), isServed) {
		return nil
	}
	return refuse(http.StatusUnprocessableEntity, "%q would be one channel too many: %d have been asked for, and each takes memory until chatguard ends. "+
		"A channel is a room; tell users and messages apart by user_id and id.", id, mostCheckedChannels)
}
