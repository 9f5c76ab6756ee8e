package chatguard

import (
	"sync/atomic"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/internal/sharing"
)

// channel is the Guard's state of one channel.
type channel struct {
	id     string
	policy atomic.Pointer[compiled] // in force: the stated policy plus overlay
	stated atomic.Pointer[compiled] // as given to SetPolicy
	table  *limits.Table            // rows of its users
	// common holds the limits that everyone shares, in one row. It is nil if there are none.
	common atomic.Pointer[limits.Table]
	shared *sharing.Channel // nil without Options.Shared
	// own reports whether the policy was set for this channel alone. It is guarded by
	// channels.changing.
	own bool
	// overlay is applied to the stated policy; nil means none. It is guarded by channels.changing.
	overlay func(Policy) Policy
}

// newChannel returns a channel without users. It is not known to the Guard yet.
func (cs *channels) new(id string, policy *compiled) *channel {
	c := &channel{id: id, table: cs.newTable(policy.sets[limits.PerUser], cs.maxMemory)}
	if set := policy.sets[limits.PerChannel]; set != nil {
		c.common.Store(cs.newTable(set, oneRow))
	}
	c.policy.Store(policy)
	c.stated.Store(policy)
	if cs.rows != nil {
		c.shared = sharing.NewChannel(id, &policy.sets)
	}
	return c
}

// newTable returns an empty table.
func (cs *channels) newTable(set *limits.Set, maxMemory int64) *limits.Table {
	table := limits.NewTable(set, maxMemory, cs.dropped)
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
// shares; tableOf returns nil if there are none.
func (c *channel) tableOf(userID string) *limits.Table {
	if userID == "" {
		return c.common.Load()
	}
	return c.table
}

// change sets the stated policy and puts it in force, with the overlay applied.
func (cs *channels) change(c *channel, next change, changes *limits.Changes) {
	changes.Apply(c.table, next.inForce.sets[limits.PerUser])
	cs.changeTable(&c.common, next.inForce.sets[limits.PerChannel], oneRow, changes)
	if c.shared != nil {
		c.shared.Change(&next.inForce.sets, changes.At)
	}
	c.stated.Store(next.stated)
	c.policy.Store(next.inForce)
}

// changeOverall puts the limits in force that count in all channels.
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
