package sharing

import (
	"cmp"
	"context"
	"errors"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/shared"
)

// Exchange writes what is pending, and reads what other nodes have changed. It returns the first
// error.
func (s *Rows) Exchange(ctx context.Context) error {
	if !s.exact {
		if err := s.listOverrides(ctx); err != nil {
			return err
		}
		s.collect()
	}
	return s.reconcile(ctx)
}

// listOverrides makes the next reconcile read the rows with an override, once for each channel. It
// includes users who have sent nothing here yet.
func (s *Rows) listOverrides(ctx context.Context) (err error) {
	s.tables.EachTable(func(channelID string, _ *limits.Table) {
		if _, listed := s.listed.Load(channelID); listed || err != nil {
			return
		}
		var users []string
		if users, err = s.store.Overrides(ctx, channelID); err != nil {
			return
		}
		for _, user := range users {
			s.Invalidate(Key{channelID, user})
		}
		s.listed.Store(channelID, true)
	})
	return err
}

// Forget notes that a channel was removed. unsent is what its tables haven't sent to the store. The
// next Exchange still writes it.
func (s *Rows) Forget(channelID string, unsent []limits.Unsent) {
	for _, u := range unsent {
		s.addUnsent(Key{channelID, u.User}, u)
	}
	s.listed.Delete(channelID)
}

// collect marks as pending what was spent in the tables since the last call.
func (s *Rows) collect() {
	s.collecting.Lock()
	defer s.collecting.Unlock()
	s.tables.EachTable(func(channelID string, table *limits.Table) {
		table.TakeUnsent(func(unsent []limits.Unsent) {
			for _, u := range unsent {
				s.addUnsent(Key{channelID, u.User}, u)
			}
		})
	})
}

// collectRow is collect for one row.
func (s *Rows) collectRow(key Key) {
	if s.exact {
		return
	}
	if table := s.tables.Table(key); table != nil {
		s.collecting.Lock()
		defer s.collecting.Unlock()
		if u, ok := table.TakeUnsentOf(key.UserID); ok {
			s.addUnsent(key, u)
		}
	}
}

// addUnsent marks as pending what was spent in a table.
func (s *Rows) addUnsent(key Key, u limits.Unsent) {
	t := s.known.stripe(key)
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.get(key)
	k.version++
	k.local, k.on = u.Row, u.Imported
	if !u.IsZero() {
		k.spend(len(k.spent), k.row, u.Spent)
		k.compact()
	}
	if u.Strikes {
		k.strikes = u.Row
	}
	t.place(k)
}

// importRow copies a row that was swapped to its table. imported is the ID of the row that the
// table's row was based on, and owes what the table has spent that the store doesn't have yet.
func (s *Rows) importRow(r *rowDraft, row *limits.Row, imported uint64, owes debt, now int64) {
	key := r.ref.key
	table := s.tables.Table(key)
	if table == nil || r.adopted && table.ImportOwn(key.UserID, imported, row) {
		return
	}
	if owes.isOpen() {
		var d limits.Draft
		d.Load(r.ref.set, row, now)
		owes.pay(&d, row, now)
		row = d.Row(row.Writes().Stamp, now)
	}
	// The bytes were readable before. A table that was closed has nothing to decide any more.
	_ = table.Import(key.UserID, row, now)
}

// reconcile swaps the rows in which something is pending or which are due. A row that can't be
// swapped stays as it is, and doesn't keep others from being swapped. reconcile returns the first
// error.
func (s *Rows) reconcile(ctx context.Context) (err error) {
	away := false
	var rows []*knownRow
	defer func() { unpin(rows) }()
	reconcile := func(n int) {
		if !away && ctx.Err() == nil {
			failed := s.reconcileRows(ctx, rows[:n])
			err, away = cmp.Or(err, failed), errors.Is(failed, shared.ErrAway)
		}
		unpin(rows[:n])
		rows = rows[n:]
	}
	for range s.known.stripes {
		// Concurrent calls take different stripes at a time. pinDue gives a row to only one call.
		rows = s.known.stripes[s.reconciled.Add(1)%stripeCount].pinDue(rows)
		for len(rows) >= rowsAtOnce {
			reconcile(rowsAtOnce)
		}
	}
	reconcile(len(rows))
	return cmp.Or(err, ctx.Err())
}

// rowsAtOnce is the maximum number of rows written in one round trip.
const rowsAtOnce = 256

// reconcileRows swaps some rows, and returns the first error.
func (s *Rows) reconcileRows(ctx context.Context, rows []*knownRow) (err error) {
	requests := make([]*request, 0, len(rows))
	loss := s.lost.Load()
	settling := s.isSettling(loss, s.Now().UnixNano())
	for _, k := range rows {
		if ref, ok := s.ref(k.key); !ok { // there are no such limits any more
			k.drop()
		} else if !settling || k.restoredAfter() != loss {
			requests = append(requests, newReconcile(k, ref))
		}
	}
	err = s.decideAll(ctx, requests)
	for _, r := range requests {
		if r.err == nil {
			s.counters.exchanged.Add(1)
		}
		err = cmp.Or(err, r.err)
		r.free()
	}
	return err
}

// Seed writes the rows of all tables to the store, except rows that the store already has. If
// dryRun is true, it only counts them. It returns the first error, and what was written until then.
func (s *Rows) Seed(ctx context.Context, dryRun bool) (done shared.Seeded, err error) {
	stamp, now := limits.Stamp{Seq: 1, Writer: s.writer}, s.Now().UnixNano()
	s.tables.EachTable(func(channelID string, table *limits.Table) {
		if err != nil {
			return
		}
		table.Rows(stamp, now, func(rows []limits.UserRow) bool {
			for len(rows) > 0 && err == nil {
				n := min(len(rows), rowsAtOnce)
				err = s.seed(ctx, channelID, rows[:n], dryRun, &done)
				rows = rows[n:]
			}
			return err == nil
		})
	})
	return done, err
}

// seed writes rows of a channel that the store doesn't have.
func (s *Rows) seed(ctx context.Context, channelID string, rows []limits.UserRow, dryRun bool, done *shared.Seeded) error {
	swaps := make([]*shared.Swap, len(rows))
	for i, r := range rows {
		row := shared.Row{ChannelID: channelID, UserID: r.User}
		if !dryRun {
			row.Is, row.HasOverride = r.Row.Bytes(), r.Row.HasOwn()
			row.Until = limits.TimeOf(r.Row.Until())
		}
		swaps[i] = &shared.Swap{Rows: []shared.Row{row}}
	}
	if s.store.Swap(ctx, swaps); ctx.Err() != nil {
		return ctx.Err()
	}
	for _, swap := range swaps {
		switch {
		case swap.Err != nil:
			return swap.Err
		case swap.Done:
			done.Written++
		default:
			done.Kept++
		}
	}
	return nil
}
