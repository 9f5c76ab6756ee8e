package chatguard

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"
)

// channels holds the known channels in a hash table with open addressing. Finding one takes no
// lock. The zero value is empty.
type channels struct {
	table  atomic.Pointer[channelTable] // nil means none
	adding sync.Mutex                   // held while channels are added or removed
	count  int
	used   int   // slots in use, plus those of removed channels
	hand   int   // slot that sweep looks at next
	swept  int64 // time of the last sweep
	met    met
}

// channelTable has a power of two of slots, at least half of them nil. A slot is filled once. A
// removed channel is replaced by gone.
type channelTable []atomic.Pointer[channel]

const leastChannelSlots = 8

var (
	channelSeed = maphash.MakeSeed()
	gone        = new(channel)
)

// find returns a known channel, or nil.
func (c *channels) find(id string) *channel {
	if t := c.table.Load(); t != nil {
		found, _ := t.find(id)
		return found
	}
	return nil
}

// find returns the channel and its slot, or nil and the slot where it belongs.
func (t channelTable) find(id string) (found *channel, slot int) {
	mask := len(t) - 1
	for slot = int(maphash.String(channelSeed, id)) & mask; ; slot = (slot + 1) & mask {
		if found = t[slot].Load(); found == nil || found.id == id && found != gone {
			return found, slot
		}
	}
}

// get returns a channel. If the channel is new, get creates it with the Guard's policy, as of the
// given time. It returns nil if the ID is not valid.
func (c *channels) get(id string, g *Guard, at time.Time) *channel {
	if found := c.find(id); found != nil || checkID(id, ErrNoChannel) != nil {
		return found
	}
	c.adding.Lock()
	defer c.adding.Unlock()
	if found := c.find(id); found != nil {
		return found
	}
	g.sweep(sweptSlots, at)
	added := g.newChannel(id, g.base.Load())
	c.add(added)
	return added
}

// add adds a channel. The caller holds adding.
func (c *channels) add(added *channel) {
	t := c.table.Load()
	if t == nil || 2*(c.used+1) > len(*t) {
		t = c.layOut()
	}
	_, slot := t.find(added.id)
	(*t)[slot].Store(added)
	c.count++
	c.used++
	c.table.Store(t)
}

// layOut returns a table with the known channels and room for as many others.
func (c *channels) layOut() *channelTable {
	n := leastChannelSlots
	for n < 4*c.count {
		n *= 2
	}
	t := make(channelTable, n)
	c.forEach(func(known *channel) {
		_, slot := t.find(known.id)
		t[slot].Store(known)
	})
	c.used = c.count
	return &t
}

// forEach calls do with every channel.
func (c *channels) forEach(do func(*channel)) {
	t := c.table.Load()
	if t == nil {
		return
	}
	for i := range *t {
		if known := (*t)[i].Load(); known != nil && known != gone {
			do(known)
		}
	}
}
