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

// add notes channels that somebody asks about, and tells entered of each new one before anybody else finds it here. It notes either all of them or none:
// channels that are listed always have a place, and others as long as who asks has opened fewer than are free still, so that nobody takes the last
// places of everybody else. opened and free are what they would be with the first channel that has no place.
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

// enter notes the channels in which messages are to be judged for somebody, or returns the problem that one of them has no place, and notes none then.
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
		return refuse(http.StatusUnprocessableEntity, "%s would be one channel too many: %q has opened %d since the start, and %d of all %d are free. Nobody opens "+
			"more than are left for others. List the channel in [check] channels, or send fewer: a channel is a room; tell users and messages apart by user_id and id.",
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

// nameOf is what a server called the channel or user with an ID.
func (s *Server) nameOf(id string) string { return strings.TrimPrefix(id, s.opts.CheckSpace) }

// userNamed returns the user of a server's channel whom the server calls by a text; ok is false where it calls nobody so.
func (s *Server) userNamed(ctx context.Context, channel, text string) (user journal.Person, ok bool, err error) {
	space := s.opts.CheckSpace
	if space == "" || text == "" || !strings.HasPrefix(channel, space) {
		return user, false, nil
	}
	return s.opts.Store.Person(ctx, channel, space+text)
}

// userMeant is a login or ID by which records of a channel are asked for: of a user whom a server calls so, the ID.
func (s *Server) userMeant(ctx context.Context, channel, text string) (string, error) {
	user, ok, err := s.userNamed(ctx, channel, text)
	if ok {
		text = user.UserID
	}
	return text, err
}
