package chatguard

import (
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// StateRow is what one user has spent of one limit, in a form that a store keeps without understanding it.
// ChannelID, UserID and Limit are its key; an empty Limit is the user's strikes.
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
	g.channels.each(func(id string, c *channel) {
		dirty := c.table.Dirty()
		for _, row := range dirty.Rows {
			b.Rows = append(b.Rows, StateRow{ChannelID: id, UserID: row.User, Limit: row.Limit, Data: row.Data})
		}
		dirty.Rows = nil
		b.tables = append(b.tables, dirty)
	})
	return b
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

// Restore takes a row back, as of the moment at, before the first message is judged. A row of a limit that the channel's policy doesn't
// have, or has under another algorithm, is ignored: that limit starts fresh. The error is for bytes that can't be read, or a bad key or time.
func (g *Guard) Restore(row StateRow, at time.Time) error {
	if err := checkID(row.ChannelID, ErrNoChannel); err != nil {
		return err
	}
	if err := checkID(row.UserID, ErrNoUser); err != nil {
		return err
	}
	ns, err := nanoseconds(at)
	if err != nil {
		return err
	}
	return g.channels.get(row.ChannelID, g.base).table.Restore(limits.StateRow{User: row.UserID, Limit: row.Limit, Data: row.Data}, ns)
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
