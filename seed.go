package chatguard

import (
	"context"
	"errors"
	"fmt"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/shared"
)

// Seed writes the restored state of all users to Options.Shared, except the rows that the shared
// store already has. Call it once, when a program begins to share limits and the users' days should
// go on. If dryRun is true, Seed only counts what it would write. It returns the first error, and
// what was written until then; it can be repeated.
func (s State) Seed(ctx context.Context, dryRun bool) (done shared.Seeded, err error) {
	sharing := s.guard.sharing
	if sharing == nil {
		return done, errors.New("chatguard: the Guard has no shared store: set Options.Shared")
	}
	stamp, now := limits.Stamp{Seq: 1, Writer: sharing.writer}, s.guard.now().UnixNano()
	s.guard.eachTable(func(channelID string, table *limits.Table) {
		if err != nil {
			return
		}
		table.Rows(stamp, now, func(rows []limits.UserRow) bool {
			for len(rows) > 0 && err == nil {
				n := min(len(rows), maxSettled)
				err = sharing.seed(ctx, channelID, rows[:n], dryRun, &done)
				rows = rows[n:]
			}
			return err == nil
		})
	})
	return done, err
}

// seed writes rows of a channel that the store doesn't have.
func (s *sharing) seed(ctx context.Context, channelID string, rows []limits.UserRow, dryRun bool, done *shared.Seeded) error {
	swaps := make([]*shared.Swap, len(rows))
	for i, r := range rows {
		row := shared.Row{ChannelID: channelID, UserID: r.User}
		if !dryRun {
			row.Is, row.HasOverride = r.Row.Bytes(), r.Row.HasOwn()
			row.Until = timeOf(r.Row.Until())
		}
		swaps[i] = &shared.Swap{Rows: []shared.Row{row}}
	}
	if s.store.Swap(ctx, swaps); ctx.Err() != nil {
		return ctx.Err()
	}
	for _, swap := range swaps {
		switch {
		case swap.Err != nil:
			return fmt.Errorf("chatguard: the rows can't be written: %w", swap.Err)
		case swap.Done:
			done.Written++
		default:
			done.Kept++
		}
	}
	return nil
}
