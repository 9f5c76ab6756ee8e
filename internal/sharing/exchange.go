package sharing

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/shared"
)

// Exchange writes what is pending, and reads what other nodes have changed. It returns the first
// error. A row that can't be swapped stays as it is, and doesn't keep others from being swapped.
// Concurrent calls share the work.
func (s *Rows) Exchange(ctx context.Context) error {
	e := exchange{Rows: s, ctx: ctx}
	defer func() {
		unpin(e.failed)
		unpin(e.pinned) // if the store panics
	}()
	if !s.exact {
		if err := s.listOverrides(ctx); err != nil {
			return err
		}
		s.tables.EachTable(e.collect)
	}
	for range s.known.stripes {
		e.pinned = s.known.stripes[s.reconciled.Add(1)%stripeCount].pinDue(e.pinned)
		e.reconcile(rowsAtOnce)
	}
	e.reconcile(1)
	return cmp.Or(e.err, ctx.Err())
}

// exchange is one call of Exchange.
type exchange struct {
	*Rows
	ctx    context.Context
	pinned []*knownRow // to reconcile
	failed []*knownRow // stay pinned until the end, so that they aren't tried again
	unsent []limits.Unsent
	err    error // the first
	away   bool  // the store was away; nothing more is tried then
}

// collect marks as pending what was spent in a table since the last call, and reconciles these rows
// while they are in the processor's cache.
func (e *exchange) collect(channelID string, table *limits.Table) {
	for shard := 0; shard >= 0; {
		shard = e.collectShard(channelID, table, shard)
		e.reconcile(rowsAtOnce)
	}
}

// collectShard is collect for a shard of the table. It returns the next shard, as TakeUnsent does.
func (e *exchange) collectShard(channelID string, table *limits.Table, shard int) (next int) {
	e.collecting.Lock()
	defer e.collecting.Unlock()
	e.unsent, next = table.TakeUnsent(shard, e.unsent[:0])
	for i := range e.unsent {
		e.pinned = e.addUnsent(e.pinned, Key{channelID, e.unsent[i].User}, &e.unsent[i])
	}
	return next
}

// reconcile reconciles the pinned rows in groups, while at least that many are pinned.
func (e *exchange) reconcile(least int) {
	for len(e.pinned) >= least {
		rows := e.pinned[:min(len(e.pinned), rowsAtOnce)]
		var err error
		if !e.away && e.ctx.Err() == nil {
			err = e.reconcileRows(e.ctx, rows)
			if _, ofRows := errors.AsType[rowError](err); !ofRows { // otherwise the next Exchange tries again
				e.err, e.away = cmp.Or(e.err, err), errors.Is(err, shared.ErrAway)
			}
		}
		if err == nil {
			unpin(rows)
		} else {
			e.failed = append(e.failed, rows...)
		}
		e.pinned = slices.Delete(e.pinned, 0, len(rows))
	}
}

// listOverrides makes pinDue return the rows with an override, once for each channel. It
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
		unpin(s.addUnsent(nil, Key{channelID, u.User}, &u))
	}
	s.listed.Delete(channelID)
}

// collectRow is collectShard for one row, which it doesn't pin.
func (s *Rows) collectRow(key Key) {
	if s.exact {
		return
	}
	if table := s.tables.Table(key); table != nil {
		s.collecting.Lock()
		defer s.collecting.Unlock()
		if u, ok := table.TakeUnsentOf(key.UserID); ok {
			unpin(s.addUnsent(nil, key, &u))
		}
	}
}

// addUnsent marks as pending what was spent in a table. If the row isn't in use, addUnsent pins and
// appends it.
func (s *Rows) addUnsent(rows []*knownRow, key Key, u *limits.Unsent) []*knownRow {
	t := s.known.stripe(key)
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.get(key)
	if k.pins == 0 {
		t.pin(k)
		rows = append(rows, k)
	}
	k.version++
	k.local, k.on = u.Row, u.Imported
	if !u.IsZero() {
		k.spend(len(k.spent), k.row, u.Spent)
		k.compact()
	}
	if u.Strikes {
		k.strikes = u.Row
	}
	return rows
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

// rowsAtOnce is the maximum number of rows written in one round trip.
const rowsAtOnce = 256

// reconcileRows swaps some rows, and returns the first error.
func (s *Rows) reconcileRows(ctx context.Context, rows []*knownRow) (err error) {
	requests := make([]*request, 0, len(rows))
	loss, now := s.lost.Load(), s.Now()
	settling := s.isSettling(loss, now.UnixNano())
	for _, k := range rows {
		if ref, ok := s.ref(k.key, now); !ok { // there are no such limits any more
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
