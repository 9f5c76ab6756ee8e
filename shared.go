package chatguard

import (
	"context"
	"errors"

	"github.com/chatguard/chatguard/shared"
)

// ShareMode says how a Guard uses Options.Shared. The zero value is ShareExact.
type ShareMode uint8

// The modes of sharing.
const (
	// ShareExact asks the store before a message is allowed. All Guards together allow exactly what
	// one alone would.
	ShareExact ShareMode = iota
	// ShareSynchronised decides in memory, and compares with the store at each Exchange. A user who
	// uses several Guards at the same time can get more until then. What exceeds a limit is paid
	// back: the user waits for longer, or gets less in the next window.
	ShareSynchronised
)

// Sharing returns what the Guard has done with Options.Shared. It is zero without one.
func (g *Guard) Sharing() shared.Counts {
	if g.sharing == nil {
		return shared.Counts{}
	}
	counts := g.sharing.counts()
	counts.Lost += g.dropped.Unsent.Load()
	return counts
}

// Invalidate makes a Guard with Options.Shared ask the store before the next decision on a row,
// because of a swap with Notify elsewhere. The IDs are those of the shared.Row. A Shared store calls
// it.
func (g *Guard) Invalidate(channelID, userID string) {
	if g.sharing != nil {
		g.sharing.invalidate(rowKey{channelID, userID})
	}
}

// InvalidateAll is Invalidate for all rows. A Shared store calls it when it may have missed calls of
// Invalidate.
func (g *Guard) InvalidateAll() {
	if g.sharing != nil {
		g.sharing.invalidateAll()
	}
}

// Heal makes the next Exchange of a Guard with Options.Shared write the rows again that the store
// has lost and the Guard remembers. A Shared store calls it when it may have lost some.
func (g *Guard) Heal() {
	if g.sharing != nil {
		g.sharing.heal()
	}
}

// Exchange writes what was allowed without the store, and reads what other Guards have allowed.
// With ShareExact that is what was allowed while the store was away. It returns the first error. A
// Shared store calls it regularly. If several goroutines call it at the same time, they share the
// work.
func (g *Guard) Exchange(ctx context.Context) error {
	if g.sharing == nil {
		return nil
	}
	if g.exact {
		return g.sharing.settle(ctx, g.rowRef)
	}
	err := g.findOverrides(ctx)
	if err == nil {
		g.collectUnsent()
		err = g.sharing.settle(ctx, g.rowRef)
	}
	if away := errors.Is(err, shared.ErrAway); away || err == nil {
		g.unexchanged.Store(away)
	}
	return err
}
