package chatguard

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard/internal/fingerprint"
	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/internal/sharing"
)

// channels holds the known channels with their policies and tables, and the limits that count in
// all channels.
type channels struct {
	base atomic.Pointer[compiled] // policy of channels without their own
	// everywhere is the table of the PerUserEverywhere limits. It is nil if there are none.
	everywhere atomic.Pointer[limits.Table]
	// overall is the table of the PerEverywhere limits, which has one row. It is nil if there are
	// none.
	overall atomic.Pointer[limits.Table]
	known   channelMap

	maxMemory int64           // of each table
	budget    *limits.Budget  // of all tables
	rows      *sharing.Rows   // nil without Options.Shared
	exact     bool            // the rows decide, not those in the tables
	textKey   fingerprint.Key // of prints
	sharesKey bool            // textKey is Options.TextKey, not a random one

	dropped, droppedTexts limits.Dropped // users, and texts

	changing sync.Mutex // held while a policy changes
	adding   sync.Mutex // held while channels are added or removed
	hand     int        // slot that sweep looks at next
	swept    int64      // time of the last sweep
	removed  removed
}

// channelMap is a hash table of channels, with open addressing. Finding a channel takes no lock;
// channels.adding is held while a channel is added or removed. The zero value is empty.
type channelMap struct {
	table atomic.Pointer[channelTable] // nil means none
	count int
	used  int // slots in use, plus those of removed channels
}

// channelTable has 2^n slots, at least half of them nil. A slot is never reused: a removed channel
// is replaced by gone.
type channelTable []atomic.Pointer[channel]

const leastChannelSlots = 8

var gone = new(channel)

// find returns a known channel, or nil.
func (m *channelMap) find(id string) *channel {
	if t := m.table.Load(); t != nil {
		found, _ := t.find(id)
		return found
	}
	return nil
}

// find returns the channel and its slot, or nil and the slot where it belongs.
func (t channelTable) find(id string) (found *channel, slot int) {
	mask := len(t) - 1
	for slot = int(hashChannel(id)) & mask; ; slot = (slot + 1) & mask {
		if found = t[slot].Load(); found == nil || found.id == id && found != gone {
			return found, slot
		}
	}
}

// The keys of hashChannel are unknown to outsiders, so they can't predict a hash.
var (
	channelSeed       = maphash.MakeSeed()
	firstKey, lastKey = maphash.String(channelSeed, "first"), maphash.String(channelSeed, "last")
)

// hashChannel returns the hash of a channel ID. If the ID is short, as nearly all are, it takes a
// third of the time of maphash: the ID's first bytes are one factor, its last bytes and its length
// the other, and each has a secret.
func hashChannel(id string) uint64 {
	var first, last uint64
	switch n := len(id); {
	case n > 16:
		return maphash.String(channelSeed, id)
	case n >= 8:
		first, last = binary.LittleEndian.Uint64([]byte(id[:8])), binary.LittleEndian.Uint64([]byte(id[n-8:]))
	default:
		for i := range n {
			first = first<<8 | uint64(id[i])
		}
	}
	hi, lo := bits.Mul64(first^firstKey, last^(lastKey*uint64(len(id)+1)))
	return hi ^ lo
}

// basePolicy returns the policy of channels without their own.
func (cs *channels) basePolicy() *compiled {
	base := cs.base.Load()
	if base == nil {
		panic(zeroGuard)
	}
	return base
}

// get returns a channel. If the channel is new, get creates it with the policy of all channels, and
// removes some channels that are idle at the given time. It returns nil if the ID is not valid.
func (cs *channels) get(id string, at time.Time) *channel {
	if found := cs.known.find(id); found != nil || checkID(id, errNoChannel) != nil {
		return found
	}
	cs.adding.Lock()
	defer cs.adding.Unlock()
	if found := cs.known.find(id); found != nil {
		return found
	}
	cs.sweep(sweptSlots, at)
	added := cs.new(id, cs.basePolicy())
	cs.known.add(added)
	return added
}

// add adds a channel.
func (m *channelMap) add(added *channel) {
	t := m.table.Load()
	if t == nil || 2*(m.used+1) > len(*t) {
		t = m.layOut()
	}
	_, slot := t.find(added.id)
	(*t)[slot].Store(added)
	m.count++
	m.used++
	m.table.Store(t)
}

// layOut returns a table with the known channels and room for as many others.
func (m *channelMap) layOut() *channelTable {
	n := leastChannelSlots
	for n < 4*m.count {
		n *= 2
	}
	t := make(channelTable, n)
	m.forEach(func(known *channel) {
		_, slot := t.find(known.id)
		t[slot].Store(known)
	})
	m.used = m.count
	return &t
}

// forEach calls do with every channel.
func (m *channelMap) forEach(do func(*channel)) {
	t := m.table.Load()
	if t == nil {
		return
	}
	for i := range *t {
		if known := (*t)[i].Load(); known != nil && known != gone {
			do(known)
		}
	}
}

// EachTable calls do with every existing table and the ID of its channel. The ID is empty for
// limits that count in all channels.
func (cs *channels) EachTable(do func(channelID string, table *limits.Table)) {
	if everywhere := cs.everywhere.Load(); everywhere != nil {
		do("", everywhere)
	}
	if overall := cs.overall.Load(); overall != nil {
		do("", overall)
	}
	cs.known.forEach(func(c *channel) {
		for _, table := range c.tables() {
			do(c.id, table)
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
		return nil, 0, errLongID
	}
	ns, err := nanoseconds(at)
	if err != nil {
		return nil, 0, err
	}
	table := cs.tableOfAll(userID)
	if channelID != "" {
		table = cs.get(channelID, at).tableOf(userID)
	}
	if table == nil {
		return nil, 0, ErrNoLimit
	}
	return table, ns, nil
}

// tableOfAll returns the table of a user in all channels. An empty ID selects the limits that
// everyone shares; tableOfAll returns nil if there are none.
func (cs *channels) tableOfAll(userID string) *limits.Table {
	if userID == "" {
		return cs.overall.Load()
	}
	return cs.everywhere.Load()
}

// findTable returns the table of a user, or nil if the policy has no limits of that scope. It never
// creates the channel. For an unknown channel, it returns no table, but the limits that would
// apply, or nil if there are none.
func (cs *channels) findTable(channelID, userID string) (*limits.Table, *limits.Set) {
	if channelID == "" {
		return cs.tableOfAll(userID), nil
	}
	if c := cs.known.find(channelID); c != nil {
		return c.tableOf(userID), nil
	}
	switch sets := &cs.basePolicy().sets; {
	case userID == "":
		return nil, sets[limits.PerChannel]
	case userID[0] == limits.TextMark:
		return nil, sets.OfKey(userID)
	default:
		return nil, sets[limits.PerUser]
	}
}

// channel is the Guard's state of one channel.
type channel struct {
	id     string
	policy atomic.Pointer[compiled] // in force: the stated policy plus overlay
	stated atomic.Pointer[compiled] // as given to SetPolicy
	table  *limits.Table            // rows of its users
	// common holds the limits that everyone shares, in one row. It is nil if there are none.
	common atomic.Pointer[limits.Table]
	texts  atomic.Pointer[textTables] // nil if there are no limits on repeated text
	shared *sharing.Channel           // nil without Options.Shared
	// own reports whether the policy was set for this channel alone. It is guarded by
	// channels.changing.
	own bool
	// overlay is applied to the stated policy; nil means none. It is guarded by channels.changing.
	overlay func(Policy) Policy
}

// new returns a channel without users. It is not known yet.
func (cs *channels) new(id string, policy *compiled) *channel {
	c := &channel{id: id, table: cs.newTable(policy.sets[limits.PerUser], cs.maxMemory)}
	if set := policy.sets[limits.PerChannel]; set != nil {
		c.common.Store(cs.newTable(set, oneRow))
	}
	c.changeTexts(cs, &policy.sets, nil)
	c.policy.Store(policy)
	c.stated.Store(policy)
	if cs.rows != nil {
		c.shared = sharing.NewChannel(id, &policy.sets)
	}
	return c
}

// changeTexts changes the limits on repeated text.
func (c *channel) changeTexts(cs *channels, sets *limits.Sets, changes *limits.Changes) {
	var before textTables
	if old := c.texts.Load(); old != nil {
		before = *old
	}
	if next := before.withSets(cs, sets, changes); next != nil {
		c.texts.Store(&next)
	} else if before != nil {
		c.texts.Store(nil)
	}
}

// newTable returns an empty table.
func (cs *channels) newTable(set *limits.Set, maxMemory int64) *limits.Table {
	dropped := &cs.dropped
	if set.Text() != nil {
		dropped = &cs.droppedTexts
	}
	table := limits.NewTable(set, maxMemory, dropped)
	if maxMemory != oneRow {
		table.ShareMemory(cs.budget)
	}
	if cs.rows != nil && !cs.exact {
		table.CountUnsent()
	}
	return table
}

// oneRow is the memory limit, in bytes, of a table that needs only a single row. A table always
// keeps one row, however small its limit is.
const oneRow = 1

// tableOf returns the table of a user. An empty ID selects the limits that everyone in the channel
// shares, and the key of a repeated text those on it; tableOf returns nil if there are none.
func (c *channel) tableOf(userID string) *limits.Table {
	switch {
	case userID == "":
		return c.common.Load()
	case userID[0] != limits.TextMark:
		return c.table
	}
	if texts := c.texts.Load(); texts != nil {
		return texts.find(userID)
	}
	return nil
}

// change sets the stated policy and puts it in force, with the overlay applied.
func (cs *channels) change(c *channel, next change, changes *limits.Changes) {
	changes.Apply(c.table, next.inForce.sets[limits.PerUser])
	cs.changeTable(&c.common, next.inForce.sets[limits.PerChannel], oneRow, changes)
	c.changeTexts(cs, &next.inForce.sets, changes)
	if c.shared != nil {
		c.shared.Change(&next.inForce.sets, changes.At)
	}
	c.stated.Store(next.stated)
	c.policy.Store(next.inForce)
}

// changeOverall puts in force the limits that count in all channels.
func (cs *channels) changeOverall(base *compiled, changes *limits.Changes) {
	cs.changeTable(&cs.everywhere, base.sets[limits.PerUserEverywhere], cs.maxMemory, changes)
	cs.changeTable(&cs.overall, base.sets[limits.PerEverywhere], oneRow, changes)
	if cs.rows != nil {
		cs.rows.Change(&base.sets, changes.At)
	}
}

// changeTable changes the limits of a table. It removes the table if set is nil, and creates it if
// it is missing.
func (cs *channels) changeTable(table *atomic.Pointer[limits.Table], set *limits.Set, maxMemory int64, changes *limits.Changes) {
	switch {
	case set == nil:
		if before := table.Swap(nil); before != nil {
			before.LeaveBudget()
		}
	case table.Load() == nil:
		table.Store(cs.newTable(set, maxMemory))
	default:
		changes.Apply(table.Load(), set)
	}
}
