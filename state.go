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
	b := &Batch{}
	b.take("", g.everywhere.Load())
	g.channels.each(func(c *channel) {
		b.take(c.id, c.table)
		b.take(c.id, c.shared.Load())
	})
	return b
}

// take adds what changed in a table, if there is one.
func (b *Batch) take(channelID string, table *limits.Table) {
	if table == nil {
		return
	}
	dirty := table.Dirty()
	for _, row := range dirty.Rows {
		b.Rows = append(b.Rows, StateRow{ChannelID: channelID, UserID: row.User, Limit: row.Limit, Data: row.Data})
	}
	dirty.Rows = nil
	b.tables = append(b.tables, dirty)
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
// have, or has under another algorithm, is ignored: that limit starts fresh. The error is for bytes that can't be read, or a bad key or time.
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

// RestoreEntryID makes sure that new entries get IDs above last.
func (g *Guard) RestoreEntryID(last EntryID) {
	for {
		current := g.lastEntry.Load()
		if current >= int64(last) || g.lastEntry.CompareAndSwap(current, int64(last)) {
			return
		}
	}
}
