package chatguard

import (
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// StateRow is a part of what is known of one user, in a form that a store keeps without understanding it. ChannelID, UserID and Limit are
// its key: an empty ChannelID is for limits per user everywhere, an empty UserID for limits that everyone in the channel shares, and a Limit
// that is no limit's name for the user's strikes, or for what the user was given.
type StateRow struct {
	ChannelID, UserID, Limit string
	Data                     []byte
}

// Batch is state that changed since it was last confirmed. Call Confirm or Release, once, when done with it.
type Batch struct {
	Rows   []StateRow // in no particular order
	tables []*limits.Batch
}

// Dirty returns the state of all users that changed since it was last confirmed. Only one batch may be open at a time.
func (g *Guard) Dirty() *Batch {
	count := 0
	g.eachTable(func(_ string, table *limits.Table) { count += table.CountDirty() })
	b := &Batch{Rows: make([]StateRow, 0, count+count/16)} // with room for what changes meanwhile
	g.eachTable(b.take)
	return b
}

// DirtyAll makes the state of all users dirty, for a store that may have lost what it had kept. Of users whom the Guard no longer knows, because
// their allowance was whole again, a store keeps what it has.
func (g *Guard) DirtyAll() {
	g.eachTable(func(_ string, table *limits.Table) { table.DirtyAll() })
}

// take adds what changed in a table.
func (b *Batch) take(channelID string, table *limits.Table) {
	b.tables = append(b.tables, table.Dirty(func(rows []limits.StateRow) {
		for _, row := range rows {
			b.Rows = append(b.Rows, StateRow{ChannelID: channelID, UserID: row.User, Limit: row.Limit, Data: row.Data})
		}
	}))
}

// eachTable calls do with every table that there is, and the ID of its channel.
func (g *Guard) eachTable(do func(channelID string, table *limits.Table)) {
	if everywhere := g.everywhere.Load(); everywhere != nil {
		do("", everywhere)
	}
	g.channels.each(func(c *channel) {
		do(c.id, c.table)
		if shared := c.shared.Load(); shared != nil {
			do(c.id, shared)
		}
	})
}

// Confirm marks the batch as kept. What changed meanwhile stays dirty.
func (b *Batch) Confirm() {
	for _, t := range b.tables {
		t.Confirm()
	}
}

// Release marks the batch as not kept: all of it is dirty again.
func (b *Batch) Release() {
	for _, t := range b.tables {
		t.Release()
	}
}

// Restore takes a row back, as of the moment at, before the first message is judged. The rows of a user have to come sorted by Limit, as a
// store with that key gives them: what the user was given stands before what was spent under it. A row of a limit that the channel's policy doesn't
// have, or has under another algorithm, is ignored: that limit starts fresh. So is a row that was Forgotten a minute before that moment, unless
// it remembers pardons: only what still matters takes memory. The error is for bytes that can't be read, or a bad key or time.
func (g *Guard) Restore(row StateRow, at time.Time) error {
	table, ns, err := g.user(row.ChannelID, row.UserID, at)
	switch {
	case err == ErrNoLimit:
		return nil
	case err != nil:
		return err
	}
	return table.Restore(limits.StateRow{User: row.UserID, Limit: row.Limit, Data: row.Data}, ns)
}

// unmetStays is how much longer strikes stay in a channel that the Guard hasn't met.
const unmetStays = 365 * 24 * time.Hour

// Forgotten reports whether nothing in a stored row counts any more at that time, so that a store may delete it. What was spent of a limit is
// judged by the parameters it was spent under, which are in the bytes, and where the channel's policy has the limit under the same algorithm
// as it would be restored, too. A row whose last spending lies after that time is never forgotten. Strikes lapse as the channel's policy says;
// in a channel that the Guard hasn't met they stay for a year more, because the channel may have a policy of its own that isn't in force yet.
// What a user was given is forgotten when there is no override and no grant is left; what was pardoned keeps it only while the Guard knows
// something else of the user that counts. It changes nothing. The error is for bytes that can't be read, or a bad key or time.
func (g *Guard) Forgotten(row StateRow, at time.Time) (bool, error) {
	if len(row.ChannelID) > maxID || len(row.UserID) > maxID {
		return false, ErrLongID
	}
	ns, err := nanoseconds(at)
	if err != nil {
		return false, err
	}
	table, set := g.seen(row.ChannelID, row.UserID)
	if table == nil && row.ChannelID != "" && row.Limit == "" {
		ns -= int64(unmetStays)
	}
	stored := limits.StateRow{User: row.UserID, Limit: row.Limit, Data: row.Data}
	if table != nil {
		return table.Forgotten(stored, ns)
	}
	return set.Forgotten(stored, ns)
}

// seen is tableOf that makes no channel: of one that wasn't seen it returns the limits that its users would be held to, nil without any.
func (g *Guard) seen(channelID, userID string) (*limits.Table, *limits.Set) {
	if channelID == "" {
		return g.everywhere.Load(), nil
	}
	if c := g.channels.find(channelID); c != nil {
		return c.tableOf(userID), nil
	}
	if userID == "" {
		return nil, g.base.Load().sets[limits.PerChannel]
	}
	return nil, g.base.Load().sets[limits.PerUser]
}

// RestoreEntryID makes sure that new entries get IDs above last.
func (g *Guard) RestoreEntryID(last EntryID) {
	for {
		current := g.lastEntry.Load()
		if current >= int64(last) || g.lastEntry.CompareAndSwap(current, int64(last)) {
			return
		}
	}
}
