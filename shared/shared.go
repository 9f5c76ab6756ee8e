// Package shared is about limits that several Guards share through a store. A program that uses
// package redisstore needs only Mode and the errors of this package. Authors of other stores
// implement Store, as those of a driver do for database/sql. A chatguard.Guard uses the Store in
// Options.Shared, and its method Shared returns what the Store needs of it. The package must not
// know how rows are encoded, or what they limit.
package shared

import (
	"context"
	"errors"
	"time"
)

// ErrAway means that the store doesn't answer. Nothing was changed.
var ErrAway = errors.New("chatguard: the shared store doesn't answer: try again when it is back")

// ErrRefused means that the store answers, but refuses, for example because its memory is full.
// Nothing was changed.
var ErrRefused = errors.New("chatguard: the shared store refuses")

// ErrUnconfirmed means that the store's reply to a change was lost, and that the change may have
// been made. A caller that repeats a grant without looking may grant twice.
var ErrUnconfirmed = errors.New("chatguard: the shared store's reply was lost: the change may have been made, so look before you repeat it")

// Store keeps rows that several Guards share, for example in Valkey or Redis. Package redisstore
// implements it. The Guard calls the methods in the goroutines of its own callers. They must be
// safe for concurrent use.
type Store interface {
	// Swap tries the swaps, each independently of the others, and sets their outcome. It uses one
	// round trip for all of them if possible. It returns when the outcome of each is known, when
	// the context ends, or after Timeout. Afterwards it must not use the swaps any more. The bytes
	// of the rows never change.
	Swap(ctx context.Context, swaps []*Swap)

	// Timeout returns how long Swap waits for the store. A decision that needs several calls takes
	// up to a quarter longer; while the store answers and other nodes change the same row, up to 20
	// times as long.
	Timeout() time.Duration

	// Number returns a number from 0 to 255 that no other node has, for the EntryIDs of this node.
	// ok is false while this node has no number.
	Number() (n int, ok bool)

	// Clock returns the time that all Guards use, and the maximum difference between the clocks of
	// any two of them.
	Clock() (now time.Time, skew time.Duration)

	// Overrides returns the IDs of the users whose stored row had HasOverride set when it was last
	// replaced. An empty channel ID means the rows of PerUserEverywhere limits. The list may have
	// more users, but must not lack any.
	Overrides(ctx context.Context, channelID string) (userIDs []string, err error)
}

// Swap is an atomic change of rows in a Store: all rows are replaced if each of them still equals
// its Was, and otherwise none.
type Swap struct {
	Rows []Row // one or more
	// Notify means that the rows were changed by hand, or pay for messages that were allowed
	// without the store. If Done, the store must call Guard.Invalidate for each row on all other
	// nodes.
	Notify bool

	// Done reports whether the rows were as expected, and are replaced. If Done is false and Err is
	// nil, at least one row was different, and nothing is replaced.
	Done bool
	// Err means that the store has refused, or has not answered; see ErrRefused and ErrAway. Done
	// is then false.
	Err error
	// Unknown means that it isn't known whether the rows were replaced, because a reply was lost.
	// If Err is nil, Now shows that another node has changed the rows since.
	Unknown bool
}

// Row is one row of a Swap. ChannelID and UserID are its key. An empty ChannelID means
// PerUserEverywhere limits, an empty UserID means PerChannel limits, and if both are empty,
// PerEverywhere limits. A UserID that begins with the control character U+001F isn't a user: the
// rest identifies a repeated text, by a keyed hash, for PerUserText and PerText limits.
type Row struct {
	ChannelID, UserID string
	// Was and Is are the row before and after the swap; nil means no row. No two writes of a row
	// have the same bytes, so a store that finds Is already stored knows that an earlier attempt
	// succeeded. If both are the same slice, the row is only compared.
	Was, Is []byte
	// Until is when Is no longer has any effect, so that the store may delete it a minute later.
	// Zero means never.
	Until time.Time
	// HasOverride reports whether Is has an override, so that Store.Overrides must list the user.
	HasOverride bool
	// Now is set by Swap if Done is false and Err is nil: the row that is stored; nil if none.
	Now []byte
}
