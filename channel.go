package chatguard

import (
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/chatguard/chatguard/internal/limits"
)

// channel is what the Guard knows of a channel.
type channel struct {
	id     string
	policy atomic.Pointer[compiled]
	table  *limits.Table                // of its users
	shared atomic.Pointer[limits.Table] // of limits that everyone shares: one row; nil without any

	changing sync.Mutex // held while policy and tables change together
	own      bool       // the policy was made for this channel
}

func newChannel(id string, policy *compiled, maxUsers int) *channel {
	c := &channel{id: id, table: limits.NewTable(policy.sets[limits.PerUser], maxUsers)}
	if set := policy.sets[limits.PerChannel]; set != nil {
		c.shared.Store(limits.NewTable(set, 1))
	}
	c.policy.Store(policy)
	return c
}

// setOwn puts a policy in force that was made for this channel, as of the moment at.
func (c *channel) setOwn(next *compiled, at int64) {
	c.changing.Lock()
	defer c.changing.Unlock()
	c.own = true
	c.change(next, at)
}

// setBase puts a policy in force that was made for all channels.
func (c *channel) setBase(base *compiled, at int64) error {
	c.changing.Lock()
	defer c.changing.Unlock()
	next, err := c.rebased(base)
	if err != nil {
		return err
	}
	c.change(next, at)
	return nil
}

// rebased returns what the policy made for all channels comes to in this one: where it has a policy of its own, that one with the limits per
// user everywhere replaced.
func (c *channel) rebased(base *compiled) (*compiled, error) {
	if !c.own {
		return base, nil
	}
	policy := c.policy.Load().policy.Clone()
	policy.Limits = slices.DeleteFunc(policy.Limits, func(l Limit) bool { return l.Per == PerUserEverywhere })
	for _, l := range base.policy.Limits {
		if l.Per == PerUserEverywhere {
			policy.Limits = append(policy.Limits, l)
		}
	}
	return compile(policy)
}

func (c *channel) change(next *compiled, at int64) {
	c.table.Change(next.sets[limits.PerUser], at)
	changeTable(&c.shared, next.sets[limits.PerChannel], 1, at)
	c.policy.Store(next)
}

// changeTable holds the users of a table to another set. Where the set is nil, the table goes; where there is none, it is made.
func changeTable(table *atomic.Pointer[limits.Table], set *limits.Set, maxUsers int, at int64) {
	switch {
	case set == nil:
		table.Store(nil)
	case table.Load() == nil:
		table.Store(limits.NewTable(set, maxUsers))
	default:
		table.Load().Change(set, at)
	}
}

// setBase puts a policy in force in all channels that have none of their own, and its limits per user everywhere in all. The error names a
// channel's limit that such a limit would take the name of; then nothing is changed there.
func (g *Guard) setBase(next *compiled, at int64) error {
	g.base.Store(next)
	changeTable(&g.everywhere, next.sets[limits.PerUserEverywhere], g.maxUsers, at)
	var errs []error
	g.channels.update(func(c *channel) {
		if err := c.setBase(next, at); err != nil {
			errs = append(errs, fmt.Errorf("channel %q: %w", c.id, err))
		}
	})
	return errors.Join(errs...)
}

// sameEverywhere returns an error that names the first limit per user everywhere in which another policy differs.
func (p *Policy) sameEverywhere(other Policy) error {
	ours, theirs := p.everywhere(), other.everywhere()
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		if l, ok := theirs[name]; !ok || !l.equal(ours[name]) {
			return fmt.Errorf("limit %q counts in all channels: it can't be changed or left out in one of them", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(theirs)) {
		if _, ok := ours[name]; !ok {
			return fmt.Errorf("limit %q counts in all channels: it can't be added in one of them", name)
		}
	}
	return nil
}

func (p *Policy) everywhere() map[string]Limit {
	list := map[string]Limit{}
	for _, l := range p.Limits {
		if l.Per == PerUserEverywhere {
			list[l.Name] = l
		}
	}
	return list
}

func (l Limit) equal(other Limit) bool {
	same := maps.Equal(l.Roles, other.Roles)
	l.Roles, other.Roles = nil, nil
	return same && reflect.DeepEqual(l, other)
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
	added := newChannel(id, g.base.Load(), g.maxUsers)
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

// update calls do with every channel, while none is added.
func (c *channels) update(do func(*channel)) {
	c.adding.Lock()
	defer c.adding.Unlock()
	c.each(do)
}
