package chatguard

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/internal/sharing"
)

// channels holds the known channels, with their policies and the tables of their users, and what
// counts in all of them. The channels are in a hash table with open addressing. Finding one takes
// no lock.
type channels struct {
	base atomic.Pointer[compiled] // policy of channels without their own
	// everywhere is the table of the PerUserEverywhere limits. It is nil if there are none.
	everywhere atomic.Pointer[limits.Table]
	// overall is the table of the PerEverywhere limits, which has one row. It is nil if there are
	// none.
	overall atomic.Pointer[limits.Table]
	table   atomic.Pointer[channelTable] // nil means none

	maxMemory int64           // of each table
	budget    *limits.Budget  // of all tables
	dropped   *limits.Dropped // by all tables
	rows      *sharing.Rows   // nil without Options.Shared
	exact     bool            // the rows decide, not those in the tables

	changing sync.Mutex // held while a policy changes
	adding   sync.Mutex // held while channels are added or removed
	count    int
	used     int   // slots in use, plus those of removed channels
	hand     int   // slot that sweep looks at next
	swept    int64 // time of the last sweep
	removed  removed
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
func (cs *channels) find(id string) *channel {
	if t := cs.table.Load(); t != nil {
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

// get returns a channel. If the channel is new, get creates it with the policy of all channels, as
// of the given time. It returns nil if the ID is not valid.
func (cs *channels) get(id string, at time.Time) *channel {
	if found := cs.find(id); found != nil || checkID(id, ErrNoChannel) != nil {
		return found
	}
	cs.adding.Lock()
	defer cs.adding.Unlock()
	if found := cs.find(id); found != nil {
		return found
	}
	cs.sweep(sweptSlots, at)
	added := cs.new(id, cs.base.Load())
	cs.add(added)
	return added
}

// add adds a channel. The caller holds adding.
func (cs *channels) add(added *channel) {
	t := cs.table.Load()
	if t == nil || 2*(cs.used+1) > len(*t) {
		t = cs.layOut()
	}
	_, slot := t.find(added.id)
	(*t)[slot].Store(added)
	cs.count++
	cs.used++
	cs.table.Store(t)
}

// layOut returns a table with the known channels and room for as many others.
func (cs *channels) layOut() *channelTable {
	n := leastChannelSlots
	for n < 4*cs.count {
		n *= 2
	}
	t := make(channelTable, n)
	cs.forEach(func(known *channel) {
		_, slot := t.find(known.id)
		t[slot].Store(known)
	})
	cs.used = cs.count
	return &t
}

// forEach calls do with every channel.
func (cs *channels) forEach(do func(*channel)) {
	t := cs.table.Load()
	if t == nil {
		return
	}
	for i := range *t {
		if known := (*t)[i].Load(); known != nil && known != gone {
			do(known)
		}
	}
}

// EachTable calls do with every existing table and the ID of its channel.
func (cs *channels) EachTable(do func(channelID string, table *limits.Table)) {
	if everywhere := cs.everywhere.Load(); everywhere != nil {
		do("", everywhere)
	}
	if overall := cs.overall.Load(); overall != nil {
		do("", overall)
	}
	cs.forEach(func(c *channel) {
		do(c.id, c.table)
		if common := c.common.Load(); common != nil {
			do(c.id, common)
		}
	})
}

// Table returns the table of a row, or nil if there is none.
func (cs *channels) Table(key sharing.Key) *limits.Table {
	table, _ := cs.findTable(key.ChannelID, key.UserID)
	return table
}

// Shared returns the limits of a channel for rows in the shared store, or nil if the ID is not
// valid.
func (cs *channels) Shared(channelID string, at time.Time) *sharing.Channel {
	if c := cs.get(channelID, at); c != nil {
		return c.shared
	}
	return nil
}

// keyTable returns the table with the usage of a key, and the time in the table's unit.
func (cs *channels) keyTable(k Key, at time.Time) (*limits.Table, int64, error) {
	if err := k.validate(); err != nil {
		return nil, 0, err
	}
	return cs.userTable(k.ChannelID, k.UserID, at)
}

// userTable returns the table that has a user's state, and the time in the table's unit. An empty
// channel ID selects the PerUserEverywhere limits. An empty user ID selects the channel's
// PerChannel limits. If both are empty, they select the PerEverywhere limits.
func (cs *channels) userTable(channelID, userID string, at time.Time) (*limits.Table, int64, error) {
	if len(channelID) > maxID || len(userID) > maxID {
		return nil, 0, ErrLongID
	}
	ns, err := nanoseconds(at)
	if err != nil {
		return nil, 0, err
	}
	table := cs.tableOf(channelID, userID, at)
	if table == nil {
		return nil, 0, ErrNoLimit
	}
	return table, ns, nil
}

// tableOf returns the table of a user, or nil if the policy has no limits of that scope.
func (cs *channels) tableOf(channelID, userID string, at time.Time) *limits.Table {
	if channelID == "" {
		return cs.tableOfAll(userID)
	}
	return cs.get(channelID, at).tableOf(userID)
}

// tableOfAll returns the table of a user in all channels. An empty ID selects the limits that
// everyone shares; tableOfAll returns nil if there are none.
func (cs *channels) tableOfAll(userID string) *limits.Table {
	if userID == "" {
		return cs.overall.Load()
	}
	return cs.everywhere.Load()
}

// findTable returns the table of a user, like tableOf, but never creates the channel. For an
// unknown channel it returns the limits that would apply to its users, or nil if there are none.
func (cs *channels) findTable(channelID, userID string) (*limits.Table, *limits.Set) {
	if channelID == "" {
		return cs.tableOfAll(userID), nil
	}
	if c := cs.find(channelID); c != nil {
		return c.tableOf(userID), nil
	}
	if userID == "" {
		return nil, cs.base.Load().sets[limits.PerChannel]
	}
	return nil, cs.base.Load().sets[limits.PerUser]
}
