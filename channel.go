package chatguard

import (
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/chatguard/chatguard/internal/limits"
)

// channel is the Guard's state of one channel.
type channel struct {
	id     string
	policy atomic.Pointer[compiled] // in force: the stated policy plus overlay
	stated atomic.Pointer[compiled] // as given to SetPolicy
	table  *limits.Table            // rows of its users
	// shared holds the limits that everyone shares, in one row. It is nil if there are none.
	shared atomic.Pointer[limits.Table]
	// own reports whether the policy was set for this channel alone. It is guarded by
	// Guard.changing.
	own bool
	// overlay is applied to the stated policy; nil means none. It is guarded by Guard.changing.
	overlay func(Policy) Policy
}

// newChannel returns a channel without users. It is not known to the Guard yet.
func (g *Guard) newChannel(id string, policy *compiled) *channel {
	c := &channel{id: id, table: limits.NewTable(policy.sets[limits.PerUser], g.maxMemory, g.dropped)}
	if set := policy.sets[limits.PerChannel]; set != nil {
		c.shared.Store(limits.NewTable(set, oneRow, g.dropped))
	}
	c.policy.Store(policy)
	c.stated.Store(policy)
	return c
}

// oneRow is the memory limit, in bytes, of a table that needs only a single row. A table always
// keeps one row, however small its limit is.
const oneRow = 1

// tableOf returns the table of a user. An empty ID selects the limits that everyone in the channel
// shares; tableOf returns nil if there are none.
func (c *channel) tableOf(userID string) *limits.Table {
	if userID == "" {
		return c.shared.Load()
	}
	return c.table
}

// change sets the stated policy and puts it in force, with the overlay applied.
func (g *Guard) change(c *channel, next change, changes *limits.Changes) {
	changes.Apply(c.table, next.inForce.sets[limits.PerUser])
	g.changeTable(&c.shared, next.inForce.sets[limits.PerChannel], oneRow, changes)
	c.stated.Store(next.stated)
	c.policy.Store(next.inForce)
}

// changeTable changes the limits of a table. It removes the table if set is nil, and creates it if
// it is missing.
func (g *Guard) changeTable(table *atomic.Pointer[limits.Table], set *limits.Set, maxMemory int64, changes *limits.Changes) {
	switch {
	case set == nil:
		table.Store(nil)
	case table.Load() == nil:
		table.Store(limits.NewTable(set, maxMemory, g.dropped))
	default:
		changes.Apply(table.Load(), set)
	}
}

// channels holds all channels seen so far in a hash table with open addressing. Finding one takes
// no lock. The zero value is empty.
type channels struct {
	table  atomic.Pointer[channelTable] // nil means none
	adding sync.Mutex                   // held while a channel is added
	count  int
}

// channelTable has a power of two of slots, at least half of them nil. Slots are filled but never
// cleared.
type channelTable []atomic.Pointer[channel]

const leastChannelSlots = 8

var channelSeed = maphash.MakeSeed()

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
		if found = t[slot].Load(); found == nil || found.id == id {
			return found, slot
		}
	}
}

// get returns a channel. If the channel is new, get creates it with the Guard's policy. It returns
// nil if the ID is not valid.
func (c *channels) get(id string, g *Guard) *channel {
	if found := c.find(id); found != nil || checkID(id, ErrNoChannel) != nil {
		return found
	}
	c.adding.Lock()
	defer c.adding.Unlock()
	if found := c.find(id); found != nil {
		return found
	}
	added := g.newChannel(id, g.base.Load())
	c.add(added)
	return added
}

func (c *channels) add(added *channel) {
	t := c.table.Load()
	if t == nil || 2*(c.count+1) > len(*t) {
		larger := make(channelTable, max(leastChannelSlots, 4*c.count))
		c.forEach(func(known *channel) {
			_, slot := larger.find(known.id)
			larger[slot].Store(known)
		})
		t = &larger
	}
	_, slot := t.find(added.id)
	(*t)[slot].Store(added)
	c.count++
	c.table.Store(t)
}

// forEach calls do with every channel.
func (c *channels) forEach(do func(*channel)) {
	t := c.table.Load()
	if t == nil {
		return
	}
	for i := range *t {
		if known := (*t)[i].Load(); known != nil {
			do(known)
		}
	}
}
