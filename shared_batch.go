package chatguard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/shared"
)

// sharedBatch is asks that are decided together, each on some of the same rows. ask.batch returns
// one.
type sharedBatch struct {
	asks   []*ask
	flight *knownRow  // that the batch leads; nil if it leads none
	rows   []rowDraft // empty until the first draft
	swap   shared.Swap
	// unreadable is set if a row can't be read, so that the batch is decided without the store.
	unreadable bool

	// Memory for the usual batch, which is one ask that is swapped alone.
	firstAsk  [1]*ask
	firstRows [limits.Scopes]rowDraft
	swapped   [limits.Scopes]shared.Row
	alone     [1]*sharedBatch
	swaps     [1]*shared.Swap
}

// batch returns a batch of the ask alone, which leads its flight.
func (a *ask) batch() *sharedBatch {
	b := &a.lead
	b.firstAsk[0], b.alone[0] = a, b
	b.asks, b.rows, b.swap.Rows, b.flight = b.firstAsk[:], b.firstRows[:0], b.swapped[:0], a.flight
	return b
}

// run decides batches, in one round trip if no other node changes the rows in the meantime. It
// changes the slice. All attempts together take up to a quarter longer than Shared.Timeout; the
// time for which an ask has waited already is part of it.
func (s *sharing) run(ctx context.Context, batches []*sharedBatch) {
	if len(batches) == 0 {
		return
	}
	if len(batches) != 1 || len(batches[0].asks) != 1 {
		ctx = context.WithoutCancel(ctx) // the asks have different contexts
	}
	swaps := batches[0].swaps[:0]
	timeout, waited := s.store.Timeout(), time.Duration(0)
	now, since := batches[0].asks[0].made, batches[0].asks[0].since
	if since.IsZero() {
		since = time.Now()
	} else {
		now, waited = 0, time.Since(since)
	}
	if now == 0 {
		now = s.now().UnixNano()
	}
	var swapping []*sharedBatch
	defer func() { // if the store panics
		for _, b := range swapping {
			b.fail(s, shared.ErrAway, true, now)
		}
	}()
	for first := true; waited < timeout; first = false {
		if first {
			batches = slices.DeleteFunc(batches, func(b *sharedBatch) bool { return !b.begin(s, now) })
		}
		if len(batches) == 0 {
			return
		}
		for _, b := range batches {
			b.prepare(s, now)
			swaps = append(swaps, &b.swap)
		}
		swapping = batches
		s.swapWithin(ctx, timeout, waited, swaps)
		swapping = nil
		batches = slices.DeleteFunc(batches, func(b *sharedBatch) bool { return b.finish(s, now) })
		swaps, waited = swaps[:0], time.Since(since)
	}
	for _, b := range batches {
		b.decideApart(s)
	}
}

// begin decides the asks for the first swap. It returns false if another batch works on a row, and
// then decides them without the store.
func (b *sharedBatch) begin(s *sharing, now int64) bool {
	b.collectRows(s)
	for i := range b.rows {
		if !b.rows[i].claim(b) {
			b.decideApart(s)
			return false
		}
	}
	b.decide(s, now, false)
	return true
}

// swapWithin tries swaps for the rest of the time. The store itself waits for no longer than the
// timeout, so that a context of its own is only made if a good part of the time is over.
func (s *sharing) swapWithin(ctx context.Context, timeout, waited time.Duration, swaps []*shared.Swap) {
	if waited > timeout/4 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout-waited)
		defer cancel()
	}
	s.store.Swap(ctx, swaps)
}

// prepare prepares the swap of a batch that is decided. If what is known of its rows has changed
// since, it decides again.
func (b *sharedBatch) prepare(s *sharing, now int64) {
	for !b.show() {
		b.decide(s, now, false)
	}
	b.swap = shared.Swap{Rows: b.swap.Rows[:0], Notify: b.asks[0].notify}
	for i := range b.rows {
		b.swap.Rows = append(b.swap.Rows, b.rows[i].sharedRow())
		b.swap.Notify = b.swap.Notify || b.rows[i].surprises(s)
	}
}

// decide decides the asks on the rows as they are known. If apart is true, that is without the
// store, on the rows as swaps in progress would leave them.
func (b *sharedBatch) decide(s *sharing, now int64, apart bool) {
	if len(b.rows) == 0 {
		b.collectRows(s)
	}
	for i := range b.rows {
		b.rows[i].load(now, apart)
	}
	for _, a := range b.asks {
		b.judge(a)
	}
	for i := range b.rows {
		b.rows[i].write(s, now)
	}
}

// show lets decisions apart count what the batch spends. It returns false if what was known of a
// row has changed since the batch was decided.
func (b *sharedBatch) show() bool {
	for i := range b.rows {
		if !b.rows[i].show() {
			b.hide(false)
			return false
		}
	}
	return true
}

// hide undoes show. happened is false if the swap certainly didn't happen.
func (b *sharedBatch) hide(happened bool) {
	for i := range b.rows {
		b.rows[i].hide(happened)
	}
}

// changes reports whether the batch changes a row, or has to restore one.
func (b *sharedBatch) changes() bool {
	return slices.ContainsFunc(b.rows, func(r rowDraft) bool { return r.next != nil || r.lost })
}

// isLearned reports whether the batch was decided on rows that the store certainly had.
func (b *sharedBatch) isLearned() bool {
	return !slices.ContainsFunc(b.rows, func(r rowDraft) bool { return r.version != r.learned })
}

// collectRows lists the rows of all asks.
func (b *sharedBatch) collectRows(s *sharing) {
	for _, a := range b.asks {
		for i, ref := range a.refs {
			at := slices.IndexFunc(b.rows, func(r rowDraft) bool { return r.ref.key == ref.key })
			if at < 0 {
				at = len(b.rows)
				r := rowDraft{ref: ref, known: b.flight}
				if b.flight == nil || b.flight.key != ref.key {
					r.known, r.held = s.hold(ref.key), true
				}
				b.rows = append(b.rows, r)
			}
			a.at[i] = at
		}
	}
}

// hold returns what is known of a row, and keeps it in memory.
func (s *sharing) hold(key rowKey) *knownRow {
	t := s.stripe(key)
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.get(key)
	t.use(k)
	return k
}

// release lets go of the batch's rows.
func (b *sharedBatch) release() {
	for i := range b.rows {
		if r := &b.rows[i]; r.held {
			t := r.known.stripe
			t.mu.Lock()
			if r.known.swapper == b {
				r.known.swapper = nil
			}
			t.release(r.known)
			t.mu.Unlock()
		}
	}
}

// judge decides one ask on the drafts.
func (b *sharedBatch) judge(a *ask) {
	if a.edit != nil {
		a.err = a.edit(b.drafts(a, nil))
		return
	}
	var drafts [limits.Scopes]*limits.Draft
	var orders [limits.Scopes]map[string]int
	for i, ref := range a.refs {
		orders[i] = ref.order
	}
	limits.JudgeDrafts(b.drafts(a, drafts[:0]), orders[:len(a.refs)], &a.request, &a.decision)
}

// drafts appends the drafts of an ask's rows.
func (b *sharedBatch) drafts(a *ask, drafts []*limits.Draft) []*limits.Draft {
	for i := range a.refs {
		drafts = append(drafts, &b.rows[a.at[i]].draft)
	}
	return drafts
}

// finish handles the outcome of the swap. It returns false if the batch must be tried again, on the
// rows that the store has.
func (b *sharedBatch) finish(s *sharing, now int64) (decided bool) {
	switch swap := &b.swap; {
	case swap.Done:
		s.swaps.Add(1)
		b.confirm(s, now)
		return true
	case swap.Err != nil:
		b.fail(s, swap.Err, swap.Unknown, now)
		return true
	case swap.Unknown && b.maybeSwapped():
		// Count the messages once: as they were decided.
		for i := range b.rows {
			_ = b.rows[i].learn(swap.Rows[i].Now, now) // a row that can't be read is noticed at the next message
		}
		b.release()
		return true
	}
	s.conflicts.Add(1)
	b.hide(false)
	for i := range b.rows {
		r := &b.rows[i]
		if err := r.learn(b.swap.Rows[i].Now, now); err != nil {
			s.setProblem(r.ref.key, err)
			if b.splitOff(s, i) {
				return !b.begin(s, now)
			}
			b.unreadable = true
			b.fail(s, fmt.Errorf("chatguard: the row of channel %q, user %q isn't changed: %w", r.ref.key.channelID, r.ref.key.userID, err), false, now)
			return true
		}
	}
	// The store has returned all rows as they were at the same moment. A decision that changes none
	// of them needs no other round trip, unless a notice has come since.
	if b.decide(s, now, false); b.changes() || !b.isLearned() {
		return false
	}
	b.confirm(s, now)
	return true
}

// splitOff decides the messages that use a row, which can't be read, without the store. It returns
// false and does nothing if all of them use it.
func (b *sharedBatch) splitOff(s *sharing, row int) bool {
	var using, others []*ask
	for _, a := range b.asks {
		if slices.Contains(a.at[:len(a.refs)], row) {
			using = append(using, a)
		} else {
			others = append(others, a)
		}
	}
	if len(others) == 0 {
		return false
	}
	b.release()
	b.asks, b.rows = others, b.firstRows[:0]
	apart := sharedBatch{asks: using, unreadable: true}
	apart.decideApart(s)
	return true
}

// confirm records that the store has the rows as the batch leaves them. now is a time before that.
func (b *sharedBatch) confirm(s *sharing, now int64) {
	for i := range b.rows {
		b.rows[i].confirm(s, now)
	}
	b.release()
}

// maybeSwapped reports whether the swap has happened, or may have, although the store has other
// rows now. An edit that may have happened returns an error.
func (b *sharedBatch) maybeSwapped() bool {
	for i := range b.rows {
		r := &b.rows[i]
		if r.next == nil {
			continue
		}
		if yes, known := limits.WritesOf(b.swap.Rows[i].Now).Include(r.next.Writes().Stamp); known {
			return yes
		}
	}
	if a := b.asks[0]; a.edit != nil && a.err == nil {
		a.err = unconfirmed(errOvertaken)
	}
	return true
}

// unconfirmed returns the error of a change by hand that may have been made. It isn't ErrAway, even
// if the cause is.
func unconfirmed(cause error) error {
	return fmt.Errorf("chatguard: %w (%v)", shared.ErrUnconfirmed, cause)
}

var errOvertaken = errors.New("other nodes have changed the row since")

// fail decides the batch without the store. The error says why, and unknown that the swap may have
// happened.
func (b *sharedBatch) fail(s *sharing, err error, unknown bool, now int64) {
	s.deciding.Lock()
	defer s.deciding.Unlock()
	b.hide(unknown)
	b.owe(s, err, unknown, now)
}

// isCurrent reports whether what is known of the rows is what the batch was decided on. Their
// stripes must be locked.
func (b *sharedBatch) isCurrent() bool {
	return !slices.ContainsFunc(b.rows, func(r rowDraft) bool { return r.known.version != r.version })
}

// lock locks the stripes of the batch's rows. lock and unlock are for a batch without the store; a
// stripe is locked alone otherwise.
func (b *sharedBatch) lock(s *sharing) (unlock func()) {
	var uses [stripeCount]bool
	for i := range b.rows {
		uses[b.rows[i].known.stripe.index] = true
	}
	for i := range s.stripes {
		if uses[i] {
			s.stripes[i].mu.Lock()
		}
	}
	return func() {
		for i := range s.stripes {
			if uses[i] {
				s.stripes[i].mu.Unlock()
			}
		}
	}
}

// owe records in the rows what the batch spends without the store. If what is known of them has
// changed, it decides again, unless the swap may have happened: then the decision may count
// already.
func (b *sharedBatch) owe(s *sharing, err error, unknown bool, now int64) {
	unlock := b.lock(s)
	for !unknown && !b.isCurrent() {
		unlock()
		b.decide(s, now, true)
		unlock = b.lock(s)
	}
	b.recordSpent()
	for i := range b.rows {
		b.rows[i].owe(unknown, b.asks[0].edit == nil)
	}
	unlock()
	for _, a := range b.asks {
		a.apart = true
		if a.edit == nil || a.look {
			if b.unreadable {
				s.unreadable.Add(1)
			} else {
				s.apart.Add(1)
			}
		} else if a.err == nil {
			if a.err = err; unknown {
				a.err = unconfirmed(err)
			}
		}
	}
	b.release()
}

// recordSpent records in each row what the batch's messages have spent.
func (b *sharedBatch) recordSpent() {
	for _, a := range b.asks {
		d := &a.decision
		spent := limits.Spent{At: d.At, N: max(0, d.Taken), Roles: a.request.Roles}
		if !d.Allowed && d.Counted > 0 {
			spent.Charged = a.request.Cost
		}
		if a.edit != nil || spent.IsZero() {
			continue
		}
		for i := range a.refs {
			r := &b.rows[a.at[i]]
			r.spent = append(r.spent, spent)
		}
	}
}

// decideApart decides a batch without asking the store.
func (b *sharedBatch) decideApart(s *sharing) {
	s.deciding.Lock()
	defer s.deciding.Unlock()
	now := s.now().UnixNano()
	b.decide(s, now, true)
	b.owe(s, shared.ErrAway, false, now)
}
