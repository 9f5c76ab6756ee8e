package sharing

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/shared"
)

// request is a message to judge, or a change by hand, that needs the rows in the store. At most one
// swap of a row is in progress (single-flight). Messages that arrive meanwhile wait, and are
// decided together on the row that the swap leaves. So nodes, not messages, compete for a row.
type request struct {
	// refs are the user's row in the channel, and the other rows that the request needs. They have
	// the same flight.
	refs   []rowRef
	flight *knownRow // stands for the flight
	made   int64     // the shared time when it was made; 0 if that isn't known
	// since is when it began to wait for its flight, or when the store last answered that; zero if
	// it leads from the beginning.
	since  time.Time
	queued time.Time // when it began to wait for its flight; zero if it leads from the beginning

	at       [limits.MaxSets]int // positions of the rows in the batch
	message  limits.Request
	decision limits.Decision

	// edit changes the rows; it is nil for a message. It may be called several times, each time
	// with the current rows.
	edit       func(drafts []*limits.Draft) error
	readOnly   bool // edit changes nothing, and works without the store
	reconciles bool // edit changes nothing; the rows get what is owed
	// single means that the request has one row, which is decided separately from others of its
	// flight.
	single bool
	// caller is the first request of the same call, whose requests have the same context.
	caller   *request
	answered time.Time // of a caller: when the store last answered and others were faster
	// notify means that the other Guards must be notified of the change.
	notify bool

	offline   bool  // decided without the store
	abandoned bool  // its context has ended, and another goroutine is deciding it
	err       error // of an edit
	// signal receives true if the request must lead its flight, and false once it is decided. Only
	// a request that waits has one.
	signal chan bool

	lead batch // the batch that the request leads
	room [usualRows]rowRef
}

// freeRequests holds requests for reuse. Most messages need no other memory.
var freeRequests = sync.Pool{New: func() any { return new(request) }}

// newRequest returns a request for a message. Its refs have to be set.
func newRequest(q *limits.Request, clock Reading) *request {
	req := freeRequests.Get().(*request)
	req.message, req.refs, req.made = *q, req.room[:0], clock.Now.UnixNano()
	return req
}

// free makes the request's memory available for other messages. The request must be decided.
func (req *request) free() {
	*req = request{}
	freeRequests.Put(req)
}

// newReconcile returns an edit that changes nothing, for a row that is pending or due, and pinned.
func newReconcile(k *knownRow, ref rowRef) *request {
	req := freeRequests.Get().(*request)
	req.single, req.reconciles = true, true
	if req.refs = append(req.room[:0], ref); ref.flight == k.key {
		req.flight = k
	}
	req.edit = func([]*limits.Draft) error { return nil }
	return req
}

// maxBatch is the maximum number of messages decided together.
const maxBatch = 64

// decide decides a request. It returns the context's error if the context ends while another
// goroutine decides a message, or before an edit begins. The cost of a message is then still spent
// if the message is allowed.
func (s *Rows) decide(ctx context.Context, req *request) error {
	if req.caller = req; s.known.enqueue(req) {
		return s.wait(ctx, req)
	}
	b := req.batch()
	defer s.known.handOver(req.flight, b) // also if the store panics
	s.yield(ctx, b)
	s.run(ctx, b.alone[:])
	return nil
}

// decideAll decides requests together. Single requests must have different rows. It returns the
// same error as decide.
func (s *Rows) decideAll(ctx context.Context, requests []*request) (err error) {
	var led []*batch
	var queued []*request
	for _, req := range requests {
		req.caller = requests[0]
		if b := batchFor(req, led); b != nil {
			b.requests = append(b.requests, req)
		} else if s.known.enqueue(req) {
			queued = append(queued, req)
		} else {
			led = append(led, req.batch())
		}
	}
	defer func() { // if the store panics
		for _, req := range queued {
			s.known.withdraw(req)
		}
	}()
	func() {
		defer func() {
			for _, b := range led {
				if b.flight != nil {
					s.known.handOver(b.flight, b)
				}
			}
		}()
		s.run(ctx, slices.Clone(led))
	}()
	for len(queued) > 0 {
		req := queued[0]
		queued = queued[1:]
		err = cmp.Or(err, s.wait(ctx, req))
	}
	return err
}

// batchFor returns the batch that a message can be added to, or nil.
func batchFor(req *request, led []*batch) *batch {
	if req.edit != nil {
		return nil
	}
	for _, b := range led {
		if b.leads(req) && b.requests[0].edit == nil && len(b.requests) < maxBatch {
			return b
		}
	}
	return nil
}

// leads reports whether the batch leads the flight of a request.
func (b *batch) leads(req *request) bool {
	return b.flight != nil && b.flight.key == req.refs[0].flight
}

// enqueue adds a request to the flight of its row. If no flight is in progress, it starts one and
// returns false. It also returns false if the same call has just started the flight, and the request
// is single.
func (rows *knownRows) enqueue(req *request) (queued bool) {
	key := req.refs[0].flight
	t := rows.stripe(key)
	t.mu.Lock()
	defer t.mu.Unlock()
	k := req.flight
	if k == nil {
		k = t.get(key)
	}
	switch req.flight = k; {
	case !k.inFlight:
		k.inFlight, k.leader = true, req.caller
		t.pin(k)
		return false
	case req.single && k.leader == req.caller:
		req.flight = nil
		return false
	}
	req.queued, req.signal = time.Now(), make(chan bool, 1)
	req.since = req.queued
	k.waiting = append(k.waiting, req)
	return true
}

// wait waits until the request is decided, or decides it when it has to lead its flight. If the
// context ends first, wait decides a message without the store, and drops an edit with the
// context's error. If another goroutine is already deciding the message, wait returns the context's
// error instead. An edit is decided only by its own goroutine.
func (s *Rows) wait(ctx context.Context, req *request) error {
	select {
	case leads := <-req.signal:
		if leads {
			s.leadNext(ctx, req)
		}
		return nil
	case <-ctx.Done():
	}
	if !s.known.withdraw(req) {
		req.abandoned = true
		return ctx.Err()
	}
	if req.edit != nil {
		req.err = ctx.Err()
		return req.err
	}
	b := req.batch()
	b.flight = nil // another request leads it
	b.decideOffline(s, shared.ErrAway)
	return nil
}

// withdraw removes a request from those that wait for its flight. It returns false if another
// goroutine is deciding the request.
func (rows *knownRows) withdraw(req *request) bool {
	k := req.flight
	k.stripe.mu.Lock()
	at := slices.Index(k.waiting, req)
	if at >= 0 {
		k.waiting = slices.Delete(k.waiting, at, at+1)
	}
	k.stripe.mu.Unlock()
	if at < 0 {
		return false
	}
	select {
	case <-req.signal: // it was its turn to lead
		rows.handOver(k, nil)
	default:
	}
	return true
}

// leadNext decides the requests that wait for a flight, the first of which is req. Messages make
// one batch, and single requests one each.
func (s *Rows) leadNext(ctx context.Context, req *request) {
	b := req.batch()
	k := b.flight
	if answered := req.caller.answered; answered.After(req.since) {
		req.since = answered // until then, its call was busy with other rows
	}
	s.yield(ctx, b)
	k.stripe.mu.Lock()
	n := 1
	for n < len(k.waiting) && req.goesWith(k.waiting[n], k.waiting[:n]) {
		n++
	}
	others := slices.Clone(k.waiting[1:n])
	k.waiting = slices.Delete(k.waiting, 0, n)
	k.stripe.mu.Unlock()
	defer func() {
		s.known.handOver(k, b)
		for _, other := range others {
			other.signal <- false
		}
	}()
	batches := b.alone[:]
	if !req.single {
		if b.requests = append(b.requests, others...); len(others) > 0 {
			ctx = context.WithoutCancel(ctx) // the others must not end with it
		}
	} else {
		for _, other := range others {
			b := other.batch()
			b.flight = nil // req leads it
			batches = append(batches, b)
		}
	}
	s.run(ctx, batches)
}

// yield leaves the rows to other nodes for a round trip, if this node's flights have followed each
// other for a while. Of nodes that are equally far from the store, the one that has swapped a row
// is the first to swap it again, so the others would never do so.
func (s *Rows) yield(ctx context.Context, b *batch) {
	k, req, timeout := b.flight, b.firstRequest[0], s.store.Timeout()
	if k.busy < timeout/4 || time.Since(k.answered) >= k.trip {
		return
	}
	pause := time.NewTimer(min(k.trip, timeout/4))
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
	}
	if k.busy = 0; !req.since.IsZero() {
		req.since = time.Now()
	}
}

// goesWith reports whether the next request of req's flight can be decided together with those
// taken so far, the first of which is req.
func (req *request) goesWith(next *request, taken []*request) bool {
	if req.edit == nil {
		return next.edit == nil && len(taken) < maxBatch
	}
	return req.single && next.single && req.caller == next.caller && len(taken) < rowsAtOnce &&
		!slices.ContainsFunc(taken, func(t *request) bool { return t.refs[0].key == next.refs[0].key })
}

// handOver makes the first request that waits for the flight lead it, or ends the flight. b is the
// batch that has led it until now; nil if none has begun.
func (rows *knownRows) handOver(k *knownRow, b *batch) {
	k.stripe.mu.Lock()
	defer k.stripe.mu.Unlock()
	if locking := k.lockedBy; locking != nil && locking.flight == k {
		k.lockedBy = nil
	}
	k.leader = nil
	if b != nil && b.answered {
		now := time.Now()
		for _, req := range k.waiting {
			req.since = now
		}
		if b.began.Sub(k.answered) >= k.trip {
			k.busy, k.answered = 0, b.began
		}
		k.busy, k.answered, k.trip = k.busy+now.Sub(k.answered), now, now.Sub(b.began)
	}
	if len(k.waiting) > 0 {
		k.waiting[0].signal <- true
		return
	}
	k.inFlight, k.waiting = false, nil
	k.stripe.unpin(k)
}
