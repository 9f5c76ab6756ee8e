package chatguard

import (
	"hash/maphash"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/chatguard/chatguard/internal/limits"
)

// channel is what the Guard knows of a channel.
type channel struct {
	policy   atomic.Pointer[compiled]
	table    *limits.Table
	changing sync.Mutex // held while policy and table change together
}

func newChannel(policy *compiled) *channel {
	c := &channel{table: limits.NewTable(policy.set)}
	c.policy.Store(policy)
	return c
}

// change puts a policy in force as of the moment at.
func (c *channel) change(next *compiled, at int64) {
	c.changing.Lock()
	defer c.changing.Unlock()
	c.table.Change(next.set, at)
	c.policy.Store(next)
}

// channels are all that were seen. Finding one takes no lock; adding one copies a small part of them. The zero value is empty.
type channels struct {
	parts [channelParts]channelPart
}

const channelParts = 64

type channelPart struct {
	known  atomic.Pointer[map[string]*channel] // replaced, never changed; nil means none
	adding sync.Mutex                          // held while known is replaced
}

var channelSeed = maphash.MakeSeed()

func (c *channels) part(id string) *channelPart {
	return &c.parts[maphash.String(channelSeed, id)%channelParts]
}

func (p *channelPart) list() map[string]*channel {
	if known := p.known.Load(); known != nil {
		return *known
	}
	return nil
}

// find returns a channel that was seen, or nil.
func (c *channels) find(id string) *channel { return c.part(id).list()[id] }

// get returns a channel, which begins with the policy on first sight.
func (c *channels) get(id string, policy *compiled) *channel {
	part := c.part(id)
	if found := part.list()[id]; found != nil {
		return found
	}
	part.adding.Lock()
	defer part.adding.Unlock()
	if found := part.list()[id]; found != nil {
		return found
	}
	next := maps.Clone(part.list())
	if next == nil {
		next = map[string]*channel{}
	}
	next[id] = newChannel(policy)
	part.known.Store(&next)
	return next[id]
}

// each calls do with every channel.
func (c *channels) each(do func(id string, c *channel)) {
	for i := range c.parts {
		for id, known := range c.parts[i].list() {
			do(id, known)
		}
	}
}
