package sharing

import (
	"context"
	"slices"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/shared"
)

// batch is a group of requests that are decided together on one set of rows. Each request uses some
// of the rows. request.batch returns a batch.
type batch struct {
	requests []*request
	flight   *knownRow  // that the batch leads; nil if it leads none
	rows     []rowDraft // empty until the first draft
	swap     shared.Swap
	// unreadable means that a row can't be read. The batch is then decided without the store.
	unreadable bool
	restores   bool      // it only restores rows that the store has lost, and decides nothing
	answered   bool      // by the store, at the last attempt
	began      time.Time // when the last attempt began

	// Memory for the usual batch, which is one request with few rows that is swapped alone.
	firstRequest [1]*request
	firstRows    [usualRows]rowDraft
	firstDrafts  [usualRows]*limits.Draft
	swapped      [usualRows]shared.Row
	alone        [1]*batch
	swaps        [1]*shared.Swap
}

// usualRows is for how many rows a request has memory. An exchange clears the memory of each of its
// requests, so it must not be large.
const usualRows = 2

// batch returns a batch of the request alone, which leads the request's flight.
func (req *request) batch() *batch {
	b := &req.lead
	b.firstRequest[0], b.alone[0] = req, b
	b.requests, b.rows, b.swap.Rows, b.flight = b.firstRequest[:], b.firstRows[:0], b.swapped[:0], req.flight
	return b
}

// competing is how many times as long as the store's timeout a message may wait for rows that other
// nodes change, before it is decided without the store, although that answers.
const competing = 20

// run decides batches, in one round trip if no other node changes the rows in the meantime. It
// changes the slice. If the context ends, it decides them without the store. It does so, too, if the
// store doesn't answer for a quarter longer than Store.Timeout, including the time in which a
// request has already waited for it.
func (s *Rows) run(ctx context.Context, batches []*batch) {
	if len(batches) == 0 {
		return
	}
	swaps := batches[0].swaps[:0]
	timeout, silent := s.store.Timeout(), time.Duration(0)
	now, since := batches[0].requests[0].made, batches[0].requests[0].since
	if since.IsZero() {
		since = time.Now()
	} else {
		now, silent = 0, time.Since(since)
	}
	if now == 0 {
		now = s.Now().UnixNano()
	}
	var swapping []*batch
	defer func() { // if the store panics
		for _, b := range swapping {
			b.fail(s, shared.ErrAway, true, now)
		}
	}()
	began, caller, cause := batches[0].requests[0].queued, batches[0].requests[0].caller, error(shared.ErrAway)
	if began.IsZero() {
		began = since
	}
	for first := true; silent < timeout && (first || since.Sub(began) < competing*timeout); first = false {
		if first {
			batches = slices.DeleteFunc(batches, func(b *batch) bool { return !b.begin(s, now) })
		}
		if len(batches) == 0 {
			return
		}
		for _, b := range batches {
			b.prepare(s, now)
			swaps, b.began = append(swaps, &b.swap), since
		}
		swapping = batches
		s.swapWithin(ctx, timeout, silent, swaps)
		swapping = nil
		if batches = slices.DeleteFunc(batches, func(b *batch) bool { return b.finish(s, now) }); len(batches) == 0 {
			return
		}
		swaps, silent, since, cause = swaps[:0], 0, time.Now(), errBusy // the others have got the rows of the store
		caller.answered = since
		if ctx.Err() != nil {
			break
		}
	}
	for _, b := range batches {
		b.decideOffline(s, cause)
	}
}

// begin decides the requests for the first swap. If another batch works on a row, begin decides
// them without the store and returns false.
func (b *batch) begin(s *Rows, now int64) bool {
	b.collectRows(s)
	for i := range b.rows {
		restored, owes, ok := b.rows[i].lock(b)
		switch {
		case !ok:
			b.decideOffline(s, errBusy)
			return false
		case s.isSettling(restored, now):
			b.decideOffline(s, errSettling)
			return false
		case owes && s.isSettling(s.lost.Load(), now):
			b.restores = true // another node may know more of the row, and give that back first
		}
	}
	b.decide(s, now, false)
	return true
}

// swapWithin tries swaps for the rest of the time. The store itself waits no longer than the
// timeout, so a context is made only if more than a quarter of the time is over.
func (s *Rows) swapWithin(ctx context.Context, timeout, silent time.Duration, swaps []*shared.Swap) {
	if silent > timeout/4 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout-silent)
		defer cancel()
	}
	s.store.Swap(ctx, swaps)
}

// prepare prepares the swap of a decided batch. If what is known of its rows has changed since the
// decision, prepare decides again.
func (b *batch) prepare(s *Rows, now int64) {
	for !b.stage(s) {
		b.decide(s, now, false)
	}
	b.swap = shared.Swap{Rows: b.swap.Rows[:0], Notify: b.requests[0].notify}
	for i := range b.rows {
		b.swap.Rows = append(b.swap.Rows, b.rows[i].swapRow())
		b.swap.Notify = b.swap.Notify || b.rows[i].notifies(s)
	}
}

// decide decides the requests on the rows as they are known. If offline is true, it decides without
// the store, as if the swaps in progress had succeeded.
func (b *batch) decide(s *Rows, now int64, offline bool) {
	if len(b.rows) == 0 {
		b.collectRows(s)
	}
	for i := range b.rows {
		b.rows[i].load(now, offline, b.restores)
	}
	if !b.restores {
		for _, req := range b.requests {
			b.judge(req)
		}
	}
	for i := range b.rows {
		b.rows[i].write(s, now)
	}
}

// stage lets offline decisions count what the batch spends. It returns false if what was known of a
// row has changed since the batch was decided.
func (b *batch) stage(s *Rows) bool {
	for i := range b.rows {
		if !b.rows[i].stage(s) {
			b.unstage(false)
			return false
		}
	}
	return true
}

// unstage undoes stage. happened is false if the swap certainly didn't happen.
func (b *batch) unstage(happened bool) {
	for i := range b.rows {
		b.rows[i].unstage(happened)
	}
}

// changes reports whether the batch changes a row, or has to restore one.
func (b *batch) changes() bool {
	return slices.ContainsFunc(b.rows, func(r rowDraft) bool { return r.next != nil || r.lost })
}

// writes reports whether the batch changes a row.
func (b *batch) writes() bool {
	return slices.ContainsFunc(b.rows, func(r rowDraft) bool { return r.next != nil })
}

// isObserved reports whether the batch was decided on rows that the store certainly had.
func (b *batch) isObserved() bool {
	return !slices.ContainsFunc(b.rows, func(r rowDraft) bool { return r.version != r.observed })
}

// collectRows lists the rows of all requests.
func (b *batch) collectRows(s *Rows) {
	for _, req := range b.requests {
		for i, ref := range req.refs {
			at := slices.IndexFunc(b.rows, func(r rowDraft) bool { return r.ref.key == ref.key })
			if at < 0 {
				at = len(b.rows)
				r := rowDraft{ref: ref, known: b.flight}
				if b.flight == nil || b.flight.key != ref.key {
					r.known, r.pinned = s.known.pin(ref.key), true
				}
				b.rows = append(b.rows, r)
			}
			req.at[i] = at
		}
	}
}

// release unlocks and unpins the batch's rows.
func (b *batch) release() {
	for i := range b.rows {
		if r := &b.rows[i]; r.pinned {
			t := r.known.stripe
			t.mu.Lock()
			if r.known.lockedBy == b {
				r.known.lockedBy = nil
			}
			t.unpin(r.known)
			t.mu.Unlock()
		}
	}
}

// judge decides one request on the drafts.
func (b *batch) judge(req *request) {
	for i := range req.refs {
		r := &b.rows[req.at[i]]
		r.adopted = r.adopted && req.reconciles // otherwise the draft has more than what is owed
	}
	if req.edit != nil {
		req.err = req.edit(b.drafts(req, b.firstDrafts[:0]))
		return
	}
	var drafts [limits.MaxSets]*limits.Draft
	var orders [limits.MaxSets]map[string]int
	for i, ref := range req.refs {
		orders[i] = ref.order
	}
	limits.JudgeDrafts(b.drafts(req, drafts[:0]), orders[:len(req.refs)], &req.message, &req.decision)
}

// drafts appends the drafts of a request's rows.
func (b *batch) drafts(req *request, drafts []*limits.Draft) []*limits.Draft {
	for i := range req.refs {
		drafts = append(drafts, &b.rows[req.at[i]].draft)
	}
	return drafts
}
