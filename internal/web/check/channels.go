package check

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/chatguard/chatguard/internal/web/problem"
)

// MaxChannels is the maximum number of channels in which servers may have messages judged. Each
// takes memory in the Guard until it is idle.
const MaxChannels = 10_000

// channels holds the channels in which servers had messages judged. The zero value is empty. It is
// safe for concurrent use.
type channels struct {
	mu  sync.RWMutex
	ids map[string]struct{}
	// opened counts the unlisted channels, by the name of the token holder who asked about them
	// first.
	opened map[string]int
}

func (c *channels) has(id string) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	_, known := c.ids[id]
	return known
}

func (c *channels) list() []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Sorted(maps.Keys(c.ids))
}

// add records the channels that a holder asks about. It calls entered for each new channel before
// another request can find the channel here. Listed channels are always accepted. An unlisted
// channel is accepted if the holder has opened fewer channels than there are free places. So no
// holder can use up all places. add returns the channels that it refuses, with opened and free as
// the reason.
func (c *channels) add(ids []string, holder string, isListed func(string) bool, entered func(string)) (refused map[string]bool, opened, free int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ids == nil {
		c.ids, c.opened = map[string]struct{}{}, map[string]int{}
	}
	for _, id := range ids {
		if _, known := c.ids[id]; known {
			continue
		}
		if !isListed(id) {
			opened, free = c.opened[holder], max(0, MaxChannels-len(c.ids))
			if opened >= free {
				if refused == nil {
					refused = map[string]bool{}
				}
				refused[id] = true
				continue
			}
			c.opened[holder]++
		}
		entered(id)
		c.ids[id] = struct{}{}
	}
	return refused, opened, free
}

// Has reports whether servers have asked about a channel since the start.
func (k *Checker) Has(id string) bool { return k.channels.has(id) }

// Channels returns the IDs of the channels that servers have asked about since the start, in sorted
// order.
func (k *Checker) Channels() []string { return k.channels.list() }

// openChannels records the channels of the messages that a caller asks about. A message whose
// channel is refused gets a problem.
func (k *Checker) openChannels(c *scratch, holder string) {
	var fresh []string
	last := ""
	for i := range c.messages {
		if id := c.messages[i].ChannelID; c.parts[i].err == nil && id != last {
			if last = id; !k.channels.has(id) {
				fresh = append(fresh, id)
			}
		}
	}
	if len(fresh) == 0 {
		return
	}
	refused, opened, free := k.channels.add(fresh, holder, k.isListed, k.announceChannel)
	if refused == nil {
		return
	}
	for i := range c.messages {
		if id := c.messages[i].ChannelID; c.parts[i].err == nil && refused[id] {
			c.parts[i].err = problem.New(http.StatusUnprocessableEntity, "There is no place for the channel %s: %q has opened %d channels since the start, and %d of %d places are free. A token "+
				"cannot open more once it has opened as many as are free. Add the channel to [check] channels, or send fewer channels: use one per chat room, not one per user or message.",
				problem.Quote(k.NameOf(id)), holder, opened, free, MaxChannels)
		}
	}
}

func (k *Checker) isListed(id string) bool { return k.opts.Listed != nil && k.opts.Listed(id) }

func (k *Checker) announceChannel(id string) {
	if k.opts.Entered != nil {
		k.opts.Entered(id)
	}
}

// NameOf returns the ID of a channel or user as the server sent it.
func (k *Checker) NameOf(id string) string { return strings.TrimPrefix(id, k.opts.Space) }
