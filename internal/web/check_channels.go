package web

import (
	"maps"
	"net/http"
	"slices"
	"sync"

	"github.com/chatguard/chatguard"
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

func (c *checkedChannels) all() []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Sorted(maps.Keys(c.ids))
}

// add takes note of channels, and tells entered of each new one before anybody else finds it here. Where there is no room for all it does neither, and
// returns the first that has none; those that are listed always have some.
func (c *checkedChannels) add(ids []string, isListed func(string) bool, entered func(string)) (tooMany string, room bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fresh := map[string]struct{}{}
	for _, id := range ids {
		if _, known := c.ids[id]; known {
			continue
		}
		fresh[id] = struct{}{}
		if len(c.ids)+len(fresh) > mostCheckedChannels && !isListed(id) {
			return id, false
		}
	}
	if c.ids == nil {
		c.ids = map[string]struct{}{}
	}
	for _, id := range ids {
		if _, known := c.ids[id]; !known {
			entered(id)
			c.ids[id] = struct{}{}
		}
	}
	return "", true
}

// enter takes note of the channels in which messages are to be judged, or returns the problem that in one of them none may be, and notes none then.
func (s *Server) enter(messages []chatguard.Message) error {
	var fresh []string
	for i := range messages {
		id := messages[i].ChannelID
		if i > 0 && id == messages[i-1].ChannelID {
			continue
		}
		if s.opts.MayAsk != nil {
			if err := s.opts.MayAsk(id); err != nil {
				return refuse(http.StatusUnprocessableEntity, "%q %s.", id, err)
			}
		}
		if !s.checked.has(id) {
			fresh = append(fresh, id)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	if id, room := s.checked.add(fresh, s.isListed, s.entered); !room {
		return refuse(http.StatusUnprocessableEntity, "%q would be one channel too many: %d have been asked for since the start, and each takes memory. "+
			"A channel is a room; tell users and messages apart by user_id and id.", id, mostCheckedChannels)
	}
	return nil
}

func (s *Server) isListed(id string) bool { return s.opts.Listed != nil && s.opts.Listed(id) }

func (s *Server) entered(id string) {
	if s.opts.Entered != nil {
		s.opts.Entered(id)
	}
}

// Asked are the IDs of the channels that servers have asked about by POST /check since the start, in order.
func (s *Server) Asked() []string { return s.checked.all() }
