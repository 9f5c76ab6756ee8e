package chatguard

import (
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
	// userRows and sharedRows are the limits for rows in a Shared store. They are nil if there are
	// none.
	userRows, sharedRows atomic.Pointer[rowSet]
	// used is when a message was judged by rows in a Shared store; it may be a second older. Such a
	// channel has no rows of its own that tell whether it is in use.
	used atomic.Int64
	// own reports whether the policy was set for this channel alone. It is guarded by
	// Guard.changing.
	own bool
	// overlay is applied to the stated policy; nil means none. It is guarded by Guard.changing.
	overlay func(Policy) Policy
}

// newChannel returns a channel without users. It is not known to the Guard yet.
func (g *Guard) newChannel(id string, policy *compiled) *channel {
	c := &channel{id: id, table: g.newTable(policy.sets[limits.PerUser], g.maxMemory)}
	if set := policy.sets[limits.PerChannel]; set != nil {
		c.shared.Store(g.newTable(set, oneRow))
	}
	c.policy.Store(policy)
	c.stated.Store(policy)
	changeRows(&c.userRows, policy.sets[limits.PerUser], 0)
	changeRows(&c.sharedRows, policy.sets[limits.PerChannel], 0)
	return c
}

// newTable returns an empty table.
func (g *Guard) newTable(set *limits.Set, maxMemory int64) *limits.Table {
	table := limits.NewTable(set, maxMemory, g.dropped)
	if maxMemory != oneRow {
		table.ShareMemory(g.budget)
	}
	if g.sharing != nil && !g.exact {
		table.CountUnsent()
	}
	return table
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
	changeRows(&c.userRows, next.inForce.sets[limits.PerUser], changes.At)
	changeRows(&c.sharedRows, next.inForce.sets[limits.PerChannel], changes.At)
	c.stated.Store(next.stated)
	c.policy.Store(next.inForce)
}

// changeOverall puts the limits in force that count in all channels.
func (g *Guard) changeOverall(base *compiled, changes *limits.Changes) {
	g.changeTable(&g.everywhere, base.sets[limits.PerUserEverywhere], g.maxMemory, changes)
	g.changeTable(&g.overall, base.sets[limits.PerEverywhere], oneRow, changes)
	changeRows(&g.everywhereRows, base.sets[limits.PerUserEverywhere], changes.At)
	changeRows(&g.overallRows, base.sets[limits.PerEverywhere], changes.At)
}

// changeTable changes the limits of a table. It removes the table if set is nil, and creates it if
// it is missing.
func (g *Guard) changeTable(table *atomic.Pointer[limits.Table], set *limits.Set, maxMemory int64, changes *limits.Changes) {
	switch {
	case set == nil:
		if before := table.Swap(nil); before != nil {
			before.LeaveBudget()
		}
	case table.Load() == nil:
		table.Store(g.newTable(set, maxMemory))
	default:
		changes.Apply(table.Load(), set)
	}
}
