package chatguard

import (
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/chatguard/chatguard/internal/limits"
)

// channel is what the Guard knows of a channel.
type channel struct {
	id      string
	policy  atomic.Pointer[compiled]     // in force: what is stated, with the overlay
	stated  atomic.Pointer[compiled]     // what SetPolicy was given
	table   *limits.Table                // of its users
	shared  atomic.Pointer[limits.Table] // of limits that everyone shares: one row; nil without any
	own     bool                         // the policy was made for this channel; under Guard.changing
	overlay func(Policy) Policy          // laid over what is stated; nil without one; under Guard.changing
}

func newChannel(id string, policy *compiled, maxMemory int64) *channel {
	c := &channel{id: id, table: limits.NewTable(policy.sets[limits.PerUser], maxMemory)}
	if set := policy.sets[limits.PerChannel]; set != nil {
		c.shared.Store(limits.NewTable(set, oneRow))
	}
	c.policy.Store(policy)
	c.stated.Store(policy)
	return c
}

// oneRow is the memory of a table that has a single row, which it keeps with any.
const oneRow = 1

// tableOf returns the table of a user; an empty ID means everyone together, which is nil without limits of that scope.
func (c *channel) tableOf(userID string) *limits.Table {
	if userID == "" {
		return c.shared.Load()
	}
	return c.table
}

// change states a policy, and puts it in force in the form it has under the overlay, as of the moment at.
func (c *channel) change(next change, at int64) {
	c.table.Change(next.inForce.sets[limits.PerUser], at)
	changeTable(&c.shared, next.inForce.sets[limits.PerChannel], oneRow, at)
	c.stated.Store(next.stated)
	c.policy.Store(next.inForce)
}

// changeTable holds the users of a table to another set. Where the set is nil, the table goes; where there is none, it is made.
func changeTable(table *atomic.Pointer[limits.Table], set *limits.Set, maxMemory int64, at int64) {
	switch {
	case set == nil:
		table.Store(nil)
	case table.Load() == nil:
		table.Store(limits.NewTable(set, maxMemory))
	default:
		table.Load().Change(set, at)
	}
}

// channels are all that were seen: a hash table with open addressing. Finding one takes no lock. The zero value is empty.
type channels struct {
	table  atomic.Pointer[channelTable] // nil means none
	adding sync.Mutex                   // held while one is added
	count  int
}

// channelTable has a power of two of slots, of which at least a half are nil. Slots are only ever filled.
type channelTable []atomic.Pointer[channel]

const leastChannelSlots = 8

var channelSeed = maphash.MakeSeed()

// find returns a channel that was seen, or nil.
func (c *channels) find(id string) *channel {
	if t := c.table.Load(); t != nil {
		found, _ := t.find(id)
		return found
	}
	return nil
}

// find returns the channel, or the slot where it belongs.
func (t channelTable) find(id string) (found *channel, slot int) {
	mask := len(t) - 1
	for slot = int(maphash.String(channelSeed, id)) & mask; ; slot = (slot + 1) & mask {
		if found = t[slot].Load(); found == nil || found.id == id {
			return found, slot
		}
	}
}

// get returns a channel, which begins with the Guard's policy on first sight; nil where the ID is none.
func (c *channels) get(id string, g *Guard) *channel {
	if found := c.find(id); found != nil || checkID(id, ErrNoChannel) != nil {
		return found
	}
	c.adding.Lock()
	defer c.adding.Unlock()
	if found := c.find(id); found != nil {
		return found
	}
	added := newChannel(id, g.base.Load(), g.maxMemory)
	c.add(added)
	return added
}

func (c *channels) add(added *channel) {
	t := c.table.Load()
	if t == nil || 2*(c.count+1) > len(*t) {
		larger := make(channelTable, max(leastChannelSlots, 4*c.count))
		c.each(func(known *channel) {
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

// each calls do with every channel.
func (c *channels) each(do func(*channel)) {
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
