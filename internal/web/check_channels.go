package web

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// mostCheckedChannels bounds the channels that messages are judged in for servers: the Guard forgets none, and each takes 3 kB.
const mostCheckedChannels = 10_000

// checkedChannels are those that messages were judged in for servers. The zero value has none. It is safe for concurrent use.
type checkedChannels struct {
	mu     sync.RWMutex
	ids    map[string]struct{}
	opened map[string]int // channels that aren't listed, by the name of who asked about them first
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

// add notes channels that a holder asks about, and calls entered for each new one before any other request finds it here. It notes all of them or none.
// Listed channels always have a place. Others have one while the holder has opened fewer channels than are still free, so that no holder takes the last
// places of the others. If add refuses a channel, opened and free say why.
func (c *checkedChannels) add(ids []string, holder string, isListed func(string) bool, entered func(string)) (refused string, opened, free int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fresh := map[string]bool{} // whether it is listed
	opened = c.opened[holder]
	for _, id := range ids {
		if _, known := c.ids[id]; known {
			continue
		}
		if _, again := fresh[id]; again {
			continue
		}
		fresh[id] = isListed(id)
		if fresh[id] {
			continue
		}
		if free = mostCheckedChannels - len(c.ids) - len(fresh) + 1; opened >= free {
			return id, opened, max(0, free)
		}
		opened++
	}
	if c.ids == nil {
		c.ids, c.opened = map[string]struct{}{}, map[string]int{}
	}
	c.opened[holder] = opened
	for _, id := range ids {
		if _, known := c.ids[id]; !known {
			entered(id)
			c.ids[id] = struct{}{}
		}
	}
	return "", opened, free
}

// enter notes the channels of messages that a caller asks about. If one of them has no place, it notes none and returns the problem.
func (s *Server) enter(messages []chatguard.Message, who caller) error {
	var fresh []string
	for i := range messages {
		id := messages[i].ChannelID
		if i > 0 && id == messages[i-1].ChannelID {
			continue
		}
		if !s.checked.has(id) {
			fresh = append(fresh, id)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	if id, opened, free := s.checked.add(fresh, who.name, s.isListed, s.entered); id != "" {
		return refuse(http.StatusUnprocessableEntity, "%s would be one channel too many: %q has opened %d since the start, and %d of all %d are free. A token opens no "+
			"more than it leaves to others. List the channel in [check] channels, or send fewer: a channel is a room; tell users and messages apart by user_id and id.",
			quoted(s.nameOf(id)), who.name, opened, free, mostCheckedChannels)
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

// nameOf returns the ID of a channel or user as the server sent it.
func (s *Server) nameOf(id string) string { return strings.TrimPrefix(id, s.opts.CheckSpace) }

// userNamed returns the user of a server's channel whose ID, as the server sends it, is the text; ok is false if there is none.
func (s *Server) userNamed(ctx context.Context, channel, text string) (user journal.Person, ok bool, err error) {
	space := s.opts.CheckSpace
	if space == "" || text == "" || !strings.HasPrefix(channel, space) {
		return user, false, nil
	}
	return s.opts.Store.Person(ctx, channel, space+text)
}

// userMeant completes a login or ID by which records of a channel are filtered: if it is an ID as the server sends it, it returns the whole ID.
func (s *Server) userMeant(ctx context.Context, channel, text string) (string, error) {
	user, ok, err := s.userNamed(ctx, channel, text)
	if ok {
		text = user.UserID
	}
	return text, err
}
