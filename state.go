package chatguard

import (
	"iter"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/state"
)

// guardState implements state.Guard.
type guardState struct{ guard *Guard }

// State returns the Guard's state, for a store. A program without a store, or with package
// sqlitestore, doesn't need it.
func (g *Guard) State() state.Guard {
	g.created()
	return guardState{g}
}

// dirtyBatch implements state.Batch.
type dirtyBatch struct {
	guard  *Guard
	size   int
	tables []*limits.Batch
	last   int64 // latest time at which something was spent
	whole  bool  // all rows were read
}

// Dirty implements state.Guard.
func (s guardState) Dirty() state.Batch {
	b := &dirtyBatch{guard: s.guard}
	s.guard.channels.EachTable(func(_ string, table *limits.Table) { b.size += table.CountDirty() })
	return b
}

// Len implements state.Batch.
func (b *dirtyBatch) Len() int { return b.size }

// Rows implements state.Batch.
func (b *dirtyBatch) Rows() iter.Seq[state.Row] {
	return func(yield func(state.Row) bool) {
		wanted := true
		b.guard.channels.EachTable(func(channelID string, table *limits.Table) {
			if wanted {
				wanted = b.read(channelID, table, yield)
			}
		})
		b.whole = wanted
		b.guard.channels.sweepAfter(b.last, b.guard.Now())
	}
}

// read passes the changes of a table to yield. It returns false if yield has returned false.
func (b *dirtyBatch) read(channelID string, table *limits.Table, yield func(state.Row) bool) bool {
	wanted := true
	taken := table.Dirty(func(rows []limits.StateRow) {
		for _, row := range rows {
			if wanted = wanted && yield(state.Row{ChannelID: channelID, UserID: row.User, Limit: row.Limit, Data: row.Data}); !wanted {
				return
			}
		}
	})
	if taken != nil {
		b.tables = append(b.tables, taken)
		b.last = max(b.last, taken.Last())
	}
	return wanted
}

// DirtyAll implements state.Guard.
func (s guardState) DirtyAll() {
	s.guard.channels.EachTable(func(_ string, table *limits.Table) { table.DirtyAll() })
}

// Confirm implements state.Batch.
func (b *dirtyBatch) Confirm() {
	if !b.whole {
		b.Release()
		return
	}
	for _, t := range b.tables {
		t.Confirm()
	}
}

// Release implements state.Batch.
func (b *dirtyBatch) Release() {
	for _, t := range b.tables {
		t.Release()
	}
}

// Restore implements state.Guard.
func (s guardState) Restore(row state.Row, at time.Time) error {
	table, ns, err := s.guard.channels.userTable(row.ChannelID, row.UserID, at)
	switch {
	case err == ErrNoLimit:
		return nil
	case err != nil:
		return err
	}
	err = table.Restore(limits.StateRow{User: row.UserID, Limit: row.Limit, Data: row.Data}, ns)
	if err == limits.ErrClosed {
		return s.Restore(row, at) // in the channel's new table
	}
	return err
}

// unknownStays is how much longer strikes are kept in a channel that the Guard hasn't seen.
const unknownStays = 365 * 24 * time.Hour

// Forgotten implements state.Guard.
func (s guardState) Forgotten(row state.Row, at time.Time) (bool, error) {
	if len(row.ChannelID) > maxID || len(row.UserID) > maxID {
		return false, errLongID
	}
	ns, err := nanoseconds(at)
	if err != nil {
		return false, err
	}
	table, set := s.guard.channels.findTable(row.ChannelID, row.UserID)
	if table == nil && row.ChannelID != "" && row.Limit == "" && !s.guard.channels.hasRemoved(row.ChannelID) {
		ns -= int64(unknownStays)
	}
	stored := limits.StateRow{User: row.UserID, Limit: row.Limit, Data: row.Data}
	if table == nil {
		return set.Forgotten(stored, ns)
	}
	forgotten, err := table.Forgotten(stored, ns)
	if err == limits.ErrClosed {
		return s.Forgotten(row, at) // the channel was removed in the meantime
	}
	return forgotten, err
}

// RestoreEntryID implements state.Guard.
func (s guardState) RestoreEntryID(last int64) {
	for {
		current := s.guard.entries.last.Load()
		if current >= last || s.guard.entries.last.CompareAndSwap(current, last) {
			return
		}
	}
}

// SetDegraded implements state.Guard.
func (s guardState) SetDegraded(degraded bool) {
	if s.guard.degraded.Load() != degraded {
		// Write only if the value changes: every decision reads it, and a write evicts it from the
		// other processors' caches.
		s.guard.degraded.Store(degraded)
	}
}

// Memory contains the numbers of users and texts that a Guard remembers, and the numbers of those
// that it has removed since it was created.
type Memory struct {
	// Users adds up the users in each channel. If there are PerUserEverywhere limits, it also adds
	// the users that these limits count.
	Users     int
	Bytes     int64 // approximately how much memory users and texts take; see Options.MaxTotalMemory
	Forgotten int64 // users removed because they need not be remembered any more
	Evicted   int64 // users removed because no memory was left; see Options.MaxMemory
	// Held is how many of the Evicted users were throttled, had strikes or grants, or were in a
	// transitional period.
	Held int64

	// Texts adds up the texts that limits on repeated text count in each channel: more than once if
	// these limits differ in which texts are the same. A text by two users is two for PerUserText.
	Texts        int
	TextsEvicted int64 // texts removed because no memory was left
}

// Memory returns how many users and texts are remembered and how many were removed.
func (g *Guard) Memory() (m Memory) {
	g.created()
	if everywhere := g.channels.everywhere.Load(); everywhere != nil {
		m.Users = everywhere.Users()
	}
	g.channels.known.forEach(func(c *channel) {
		m.Users += c.table.Users()
		if texts := c.texts.Load(); texts != nil {
			for _, t := range *texts {
				m.Texts += t.table.Users()
			}
		}
	})
	m.Bytes, m.TextsEvicted = g.channels.budget.Used(), g.channels.droppedTexts.Evicted.Load()
	dropped := &g.channels.dropped
	m.Forgotten, m.Evicted, m.Held = dropped.Fresh.Load(), dropped.Evicted.Load(), dropped.Held.Load()
	return m
}
