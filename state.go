package chatguard

import (
	"iter"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// State gives a store access to a Guard's state. A program without a store, or with package
// sqlitestore, doesn't need it. Guard.State returns it. It is safe for concurrent use, but see
// Dirty.
type State struct{ guard *Guard }

// State returns the Guard's state, for a store.
func (g *Guard) State() State { return State{g} }

// StateRow is part of one user's state, in an opaque form for a store. ChannelID, UserID and Limit
// are its key. An empty ChannelID means PerUserEverywhere limits, an empty UserID means PerChannel
// limits, and if both are empty, PerEverywhere limits. If Limit is not the name of a limit, the row
// holds the user's strikes, or the user's override and grants.
type StateRow struct {
	ChannelID, UserID, Limit string
	Data                     []byte
}

// Batch is the state that changed since the last confirmed batch. Read its Rows, then call Confirm
// or Release once. A Batch is for one goroutine.
type Batch struct {
	guard  *Guard
	size   int
	tables []*limits.Batch
	last   int64 // latest time at which something was spent
	whole  bool  // all rows were read
}

// Dirty returns the state of all users that has changed since it was last confirmed. Only one batch
// may be open at a time.
func (s State) Dirty() *Batch {
	b := &Batch{guard: s.guard}
	s.guard.channels.EachTable(func(_ string, table *limits.Table) { b.size += table.CountDirty() })
	return b
}

// Len returns approximately how many rows the batch has. State that changes before Rows reads it
// may add rows.
func (b *Batch) Len() int { return b.size }

// Rows returns the rows of the batch, in no particular order. They can be read only once. Each
// user's rows show the state at the time when they are read. Reading them also removes some
// channels that hold nothing any more, as described at Guard.ForgetChannel.
func (b *Batch) Rows() iter.Seq[StateRow] {
	return func(yield func(StateRow) bool) {
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
func (b *Batch) read(channelID string, table *limits.Table, yield func(StateRow) bool) bool {
	wanted := true
	taken := table.Dirty(func(rows []limits.StateRow) {
		for _, row := range rows {
			if wanted = wanted && yield(StateRow{ChannelID: channelID, UserID: row.User, Limit: row.Limit, Data: row.Data}); !wanted {
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

// DirtyAll marks the state of all users as dirty, for a store that may have lost its data. It
// doesn't include users that the Guard has removed because their allowance was fully restored. A
// store keeps the rows that it has of such users.
func (s State) DirtyAll() {
	s.guard.channels.EachTable(func(_ string, table *limits.Table) { table.DirtyAll() })
}

// Confirm marks the batch as stored. State that changed in the meantime stays dirty. If not all
// Rows were read, Confirm is the same as Release.
func (b *Batch) Confirm() {
	if !b.whole {
		b.Release()
		return
	}
	for _, t := range b.tables {
		t.Confirm()
	}
}

// Release marks the batch as not stored: all of it is dirty again.
func (b *Batch) Release() {
	for _, t := range b.tables {
		t.Release()
	}
}

// Restore restores a row, as of the time at. Call it before the first message is judged. Pass the
// rows of a user sorted by Limit, so that the user's override and grants precede the usage that
// depends on them. Restore ignores a row of a limit that the channel's policy doesn't have, or has
// with another algorithm; that limit starts fresh. To save memory, it also ignores a row that was
// already Forgotten a minute before at, unless the row holds pardons. It returns an error for bytes
// that can't be read, or a bad key or time.
func (s State) Restore(row StateRow, at time.Time) error {
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

// Forgotten reports whether a stored row no longer has any effect at the given time, so that a
// store may delete it. It changes nothing.
//
// The usage of a limit must have no effect under the parameters under which it was spent, which the
// bytes contain. If the channel's policy has the limit with the same algorithm, the usage must also
// have no effect after a restore. A row whose last usage is after at is never forgotten.
//
// Strikes lapse as the channel's policy says. In a channel that the Guard hasn't seen, they stay
// for a year longer, because the channel's own policy may not be in force yet. A removed channel
// that had no policy of its own counts as seen. A row of overrides and grants is forgotten when all
// of them have ended. If such a row also holds pardons, it is kept as long as the Guard has other
// state of the user that counts.
//
// Forgotten returns an error for bytes that can't be read, or a bad key or time.
func (s State) Forgotten(row StateRow, at time.Time) (bool, error) {
	if len(row.ChannelID) > maxID || len(row.UserID) > maxID {
		return false, ErrLongID
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

// RestoreEntryID ensures that new entries get IDs above last.
func (s State) RestoreEntryID(last EntryID) {
	for {
		current := s.guard.entries.last.Load()
		if current >= int64(last) || s.guard.entries.last.CompareAndSwap(current, int64(last)) {
			return
		}
	}
}

// SetDegraded sets whether the store is failing. Every later verdict has this value in its Degraded
// field. Decisions stay the same.
func (s State) SetDegraded(degraded bool) {
	if s.guard.degraded.Load() != degraded {
		// Write only if the value changes: every decision reads it, and a write evicts it from the
		// other processors' caches.
		s.guard.degraded.Store(degraded)
	}
}

// Memory contains the number of users that a Guard remembers, and the number of users that it has
// removed since it was created.
type Memory struct {
	// Users adds up the users in each channel. If there are PerUserEverywhere limits, it also adds
	// the users that these limits count.
	Users     int
	Bytes     int64 // approximately how much memory they take; see Options.MaxTotalMemory
	Forgotten int64 // users removed because their allowance was fully restored
	Evicted   int64 // users removed because no memory was left; see Options.MaxMemory
	// Held is how many of the Evicted users were throttled, had strikes or grants, or had a change
	// of their day's time zone or reset time in progress.
	Held int64
}

// Memory returns how many users are remembered and how many were removed.
func (g *Guard) Memory() (m Memory) {
	g.created()
	if everywhere := g.channels.everywhere.Load(); everywhere != nil {
		m.Users = everywhere.Users()
	}
	g.channels.known.forEach(func(c *channel) { m.Users += c.table.Users() })
	m.Bytes = g.channels.budget.Used()
	dropped := g.channels.dropped
	m.Forgotten, m.Evicted, m.Held = dropped.Fresh.Load(), dropped.Evicted.Load(), dropped.Held.Load()
	return m
}
