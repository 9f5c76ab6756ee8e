package chatguard

import (
	"context"
	"errors"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/internal/sharing"
	"github.com/chatguard/chatguard/shared"
)

// ShareMode says how a Guard uses Options.Shared. The zero value is ShareExact.
type ShareMode uint8

// The modes of sharing.
const (
	// ShareExact asks the store before a message is allowed. All Guards together allow exactly what
	// one alone would.
	ShareExact ShareMode = iota
	// ShareSynchronised decides in memory, and compares with the store at each Exchange. Until
	// then, a user who uses several Guards at the same time can send more than the limit. What
	// exceeds a limit is paid back: the user waits for longer, or gets less in the next window.
	ShareSynchronised
)

// DefaultSharedRows is the default of Options.SharedRows.
const DefaultSharedRows = 200_000

// Sharing returns what the Guard has done with Options.Shared. Without Options.Shared, the counts
// are zero.
func (g *Guard) Sharing() shared.Counts {
	rows := g.channels.rows
	if rows == nil {
		return shared.Counts{}
	}
	counts := rows.Counts()
	counts.Lost += g.channels.dropped.Unsent.Load()
	return counts
}

// Invalidate tells a Guard with Options.Shared that another node has made a swap of a row with
// Notify. The Guard then asks the store before its next decision on the row, or with
// ShareSynchronised at the next Exchange. The IDs are those of the shared.Row. A shared.Store calls
// it.
func (g *Guard) Invalidate(channelID, userID string) {
	if rows := g.channels.rows; rows != nil {
		rows.Invalidate(sharing.Key{ChannelID: channelID, UserID: userID})
	}
}

// InvalidateAll is Invalidate for all rows. A shared.Store calls it when it may have missed calls
// of Invalidate.
func (g *Guard) InvalidateAll() {
	if rows := g.channels.rows; rows != nil {
		rows.InvalidateAll()
	}
}

// Heal makes the next Exchange of a Guard with Options.Shared restore the rows that the store has
// lost and the Guard remembers. A shared.Store calls it when it may have lost rows.
func (g *Guard) Heal() {
	if rows := g.channels.rows; rows != nil {
		rows.Heal()
	}
}

// Exchange writes what was allowed without the store, and reads what other Guards have allowed.
// With ShareExact, only messages that were allowed while the store was away need this. It returns
// the first error. A shared.Store calls it regularly. If several goroutines call it at the same
// time, they share the work.
func (g *Guard) Exchange(ctx context.Context) error {
	rows := g.channels.rows
	if rows == nil {
		return nil
	}
	err := rows.Exchange(ctx)
	if g.channels.exact {
		return err
	}
	if away := errors.Is(err, shared.ErrAway); away || err == nil {
		g.unexchanged.Store(away)
	}
	return err
}

// Seed writes the restored state of all users to Options.Shared, except the rows that the shared
// store already has. Call it once, when a program begins to share limits, so that users don't start
// with a full allowance. If dryRun is true, Seed only counts what it would write. It returns the
// first error, and what was written until then. After an error, call it again.
func (s State) Seed(ctx context.Context, dryRun bool) (done shared.Seeded, err error) {
	rows := s.guard.channels.rows
	if rows == nil {
		return done, errors.New("chatguard: the Guard has no shared store: set Options.Shared")
	}
	return rows.Seed(ctx, dryRun)
}

// judgeShared fills in the decision on a message by the rows in the shared store, and returns how
// much of its cost is allowed.
func (v *Verdict) judgeShared(ctx context.Context, rows *sharing.Rows, clock sharing.Reading, c *channel, q *limits.Request) (taken int64, err error) {
	var d limits.Decision
	offline, err := rows.Judge(ctx, clock, c.shared, v.UserID, c.policy.Load().places, q, &d)
	if err != nil {
		return 0, err
	}
	v.Degraded = v.Degraded || offline
	v.decide(&d, q.At)
	if d.Exempt || v.policy(&d).Mode == ModeObserve {
		return q.Cost, nil
	}
	return d.Taken, nil
}

// editRow changes the row of a key in the shared store. It returns ErrNoLimit if there are no
// limits for the key. edit may be called several times.
func (a guardAt) editRow(ctx context.Context, k Key, edit func(d *limits.Draft) error) error {
	ok, err := a.guard.channels.rows.Edit(ctx, k.row(), edit)
	if !ok {
		return ErrNoLimit
	}
	return err
}

// editUser changes the rows in the shared store that a user's messages use.
func (a guardAt) editUser(ctx context.Context, k Key, edit func([]*limits.Draft) error) error {
	return a.guard.channels.rows.EditUser(ctx, a.guard.channels.Shared(k.ChannelID, a.at), k.UserID, edit)
}
