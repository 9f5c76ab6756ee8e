// Package state is for authors of stores that keep the state of a Guard after the process ends. A
// program that uses package sqlitestore doesn't need it. Method State of a chatguard.Guard returns
// the Guard's state. The package must not know how the bytes of a row are encoded, or what they
// limit.
//
// A store calls Restore for each row that it has, before the first message. It then writes the rows
// of Dirty at intervals, and deletes the rows that are Forgotten.
package state

import (
	"iter"
	"time"
)

// Row is part of one user's state, in an opaque form for a store. ChannelID, UserID and Limit are
// its key. An empty ChannelID means PerUserEverywhere limits, an empty UserID means PerChannel
// limits, and if both are empty, PerEverywhere limits. A UserID that begins with the control
// character U+001F isn't a user: the rest identifies a repeated text, by a keyed hash, for
// PerUserText and PerText limits. If Limit is not the name of a limit, the row holds the user's
// strikes, or the user's override and grants.
type Row struct {
	ChannelID, UserID, Limit string
	Data                     []byte
}

// Guard is the state of a *chatguard.Guard, whose method State returns it. Only package chatguard
// implements it, because later versions may add methods. It is safe for concurrent use, but see
// Dirty.
type Guard interface {
	// Dirty returns the state of all users that has changed since it was last confirmed. Only one
	// Batch may be open at a time.
	Dirty() Batch

	// DirtyAll marks the state of all users as dirty, for a store that may have lost its data. It
	// doesn't include users that the Guard has removed because they need not be remembered any
	// more. A store keeps the rows that it has of such users.
	DirtyAll()

	// Restore restores a row, as of the time at. Call it before the first message is judged. Pass
	// the rows of a user sorted by Limit, so that the user's override and grants precede the usage
	// that depends on them. Restore ignores a row of a limit that the channel's policy doesn't
	// have, or has with another algorithm; that limit starts fresh. To save memory, it also ignores
	// a row that was already Forgotten a minute before at, unless the row holds pardons. It returns
	// an error for bytes that can't be read, or a bad key or time.
	Restore(row Row, at time.Time) error

	// Forgotten reports whether a stored row no longer has any effect at the given time, so that a
	// store may delete it. It changes nothing.
	//
	// The usage of a limit must have no effect under the parameters under which it was spent, which
	// the bytes contain. If the channel's policy has the limit with the same algorithm, the usage
	// must also have no effect after a restore. A row whose last usage is after at is never
	// forgotten.
	//
	// Strikes lapse as the channel's policy says. In a channel that the Guard hasn't seen, they
	// stay for a year longer, because the channel's own policy may not be in force yet. A removed
	// channel that had no policy of its own counts as seen. A row of overrides and grants is
	// forgotten when all of them have ended. If such a row also holds pardons, it is kept as long
	// as the Guard has other state of the user that counts.
	//
	// Forgotten returns an error for bytes that can't be read, or a bad key or time.
	Forgotten(row Row, at time.Time) (bool, error)

	// RestoreEntryID ensures that the EntryIDs of new verdicts are above last.
	RestoreEntryID(last int64)

	// SetDegraded sets whether the store is failing. Every later verdict has this value in its
	// Degraded field. Decisions stay the same.
	SetDegraded(degraded bool)
}

// Batch is the state that changed since the last confirmed Batch. Read its Rows, then call Confirm
// or Release once. A Batch is for one goroutine. Only package chatguard implements it, because
// later versions may add methods.
type Batch interface {
	// Len returns approximately how many rows the Batch has. State that changes before Rows reads
	// it may add rows.
	Len() int

	// Rows returns the rows of the Batch, in no particular order. They can be read only once. Each
	// user's rows show the state at the time when they are read. Reading them also removes some
	// channels that hold nothing any more, as described at Guard.ForgetChannel.
	Rows() iter.Seq[Row]

	// Confirm marks the Batch as stored. State that changed in the meantime stays dirty. If not all
	// Rows were read, Confirm is the same as Release.
	Confirm()

	// Release marks the Batch as not stored: all of it is dirty again.
	Release()
}
