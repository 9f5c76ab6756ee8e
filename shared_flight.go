package chatguard

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// ask is a message to judge, or a change by hand, that needs the rows in the shared store. While
// its row is in a flight, there is at most one swap of the row in progress. Messages that arrive
// meanwhile wait, and are decided together on the row that it leaves. So nodes, not messages,
// compete for a row.
type ask struct {
	// refs are the user's row in the channel, and the other rows that the ask needs. They have the
	// same flight.
	refs   []rowRef
	flight *knownRow // stands for the flight
	made   int64     // the shared time when it was made; 0 if that isn't known
	since  time.Time // when it began to wait for its flight; zero if it leads from the beginning

	at       [limits.Scopes]int // positions of the rows in the batch
	request  limits.Request
	decision limits.Decision

	// edit changes the rows; it is nil for a message. It may be called several times, each time
	// with the rows as they are by then.
	edit func(drafts []*limits.Draft) error
	look bool // edit changes nothing, and can do without the store
	// single means that the ask has one row, which is decided apart from others of its flight.
	single bool
	// notify means that the other Guards must learn of the change.
	notify bool

	apart bool  // decided without the store
	left  bool  // its context has ended, and somebody else is deciding it
	err   error // of an edit
	// signal receives true if the ask must lead its flight, and false once it is decided. Only an
	// ask that waits has one.
	signal chan bool

	lead sharedBatch // the batch that the ask leads
	room [limits.Scopes]rowRef
}

// asks are those for messages. Most messages need no other memory.
var asks = sync.Pool{New: func() any { return new(ask) }}

// newAsk returns an ask for a message. Its refs have to be set.
func newAsk(q *limits.Request, clock reading) *ask {
	a := asks.Get().(*ask)
	a.request, a.refs, a.made = *q, a.room[:0], clock.now.UnixNano()
	return a
}

// free makes a's memory available for other messages. a must be decided.
func (a *ask) free() {
	*a = ask{}
	asks.Put(a)
}

// newEdit returns an ask for a change of rows.
func newEdit(edit func(drafts []*limits.Draft) error, refs ...rowRef) *ask {
	return &ask{refs: refs, edit: edit}
}

// newLook returns an edit that changes nothing, for a row that owes something.
func newLook(ref rowRef) *ask {
	a := asks.Get().(*ask)
	a.single, a.edit, a.refs = true, keep, append(a.room[:0], ref)
	return a
}

func keep([]*limits.Draft) error { return nil }

// maxBatch is how many messages are decided together.
const maxBatch = 64

// decide decides an ask. It returns the context's error if the context has ended and the message is
// being decided elsewhere. It is spent then, if it is allowed.
func (s *sharing) decide(ctx context.Context, a *ask) error {
	if s.enqueue(a) {
		return s.wait(ctx, a)
	}
	defer s.handOver(a.flight) // also if the store panics
	b := a.batch()
	s.run(ctx, b.alone[:])
	return nil
}

// decideAll decides asks together. If they are single, they have different rows. It returns the
// same error as decide.
func (s *sharing) decideAll(ctx context.Context, asks []*ask) (err error) {
	var led []*sharedBatch
	var queued []*ask
	for _, a := range asks {
		if b := batchFor(a, led); b != nil {
			b.asks = append(b.asks, a)
		} else if a.single && leadsFlightOf(a, led) {
			led = append(led, a.batch())
		} else if s.enqueue(a) {
			queued = append(queued, a)
		} else {
			led = append(led, a.batch())
		}
	}
	defer func() { // if the store panics
		for _, a := range queued {
			s.withdraw(a)
		}
	}()
	func() {
		defer func() {
			for _, b := range led {
				if b.flight != nil {
					s.handOver(b.flight)
				}
			}
		}()
		s.run(ctx, slices.Clone(led))
	}()
	for len(queued) > 0 {
		a := queued[0]
		queued = queued[1:]
		err = cmp.Or(err, s.wait(ctx, a))
	}
	return err
}

// batchFor returns the batch that a message can be added to, or nil.
func batchFor(a *ask, led []*sharedBatch) *sharedBatch {
	if a.edit != nil {
		return nil
	}
	for _, b := range led {
		if b.leads(a) && b.asks[0].edit == nil && len(b.asks) < maxBatch {
			return b
		}
	}
	return nil
}

// leadsFlightOf reports whether one of the batches leads the flight of an ask.
func leadsFlightOf(a *ask, led []*sharedBatch) bool {
	return slices.ContainsFunc(led, func(b *sharedBatch) bool { return b.leads(a) })
}

// leads reports whether the batch leads the flight of an ask.
func (b *sharedBatch) leads(a *ask) bool { return b.flight != nil && b.flight.key == a.refs[0].flight }

// enqueue adds an ask to the flight of its row. If there is none, it starts one and returns false.
func (s *sharing) enqueue(a *ask) (queued bool) {
	key := a.refs[0].flight
	t := s.stripe(key)
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.get(key)
	if a.flight = k; !k.flying {
		k.flying = true
		t.use(k)
		return false
	}
	a.since, a.signal = time.Now(), make(chan bool, 1)
	k.waiting = append(k.waiting, a)
	return true
}

// wait waits until the ask is decided, or decides it when it has to lead its flight.
func (s *sharing) wait(ctx context.Context, a *ask) error {
	select {
	case leads := <-a.signal:
		if leads {
			s.leadNext(ctx, a)
		}
		return nil
	case <-ctx.Done():
	}
	if !s.withdraw(a) {
		a.left = true
		return ctx.Err()
	}
	b := a.batch()
	b.flight = nil // another ask leads it
	b.decideApart(s)
	return nil
}

// withdraw removes an ask from those that wait for its flight. It returns false if another
// goroutine is deciding the ask.
func (s *sharing) withdraw(a *ask) bool {
	k := a.flight
	k.stripe.mu.Lock()
	at := slices.Index(k.waiting, a)
	if at >= 0 {
		k.waiting = slices.Delete(k.waiting, at, at+1)
	}
	k.stripe.mu.Unlock()
	if at < 0 {
		return false
	}
	select {
	case <-a.signal: // it was its turn to lead
		s.handOver(k)
	default:
	}
	return true
}

// leadNext decides the asks that wait for a flight, the first of which is a. Messages make one
// batch, and single asks one each.
func (s *sharing) leadNext(ctx context.Context, a *ask) {
	k := a.flight
	k.stripe.mu.Lock()
	n := 1
	for n < len(k.waiting) && a.goesWith(k.waiting[n], k.waiting[:n]) {
		n++
	}
	others := slices.Clone(k.waiting[1:n])
	k.waiting = slices.Delete(k.waiting, 0, n)
	k.stripe.mu.Unlock()
	defer func() {
		s.handOver(k)
		for _, other := range others {
			other.signal <- false
		}
	}()
	b := a.batch()
	batches := b.alone[:]
	if !a.single {
		b.asks = append(b.asks, others...)
	} else {
		for _, other := range others {
			b := other.batch()
			b.flight = nil // a leads it
			batches = append(batches, b)
		}
	}
	s.run(ctx, batches)
}

// goesWith reports whether the next ask of a's flight can be decided together with a and those
// after it.
func (a *ask) goesWith(next *ask, taken []*ask) bool {
	if a.edit == nil {
		return next.edit == nil && len(taken) < maxBatch
	}
	return a.single && next.single && len(taken) < maxSettled &&
		!slices.ContainsFunc(taken, func(t *ask) bool { return t.refs[0].key == next.refs[0].key })
}

// handOver makes the first ask that waits for the flight lead it, or ends the flight.
func (s *sharing) handOver(k *knownRow) {
	k.stripe.mu.Lock()
	defer k.stripe.mu.Unlock()
	if b := k.swapper; b != nil && b.flight == k {
		k.swapper = nil
	}
	if len(k.waiting) > 0 {
		k.waiting[0].signal <- true
		return
	}
	k.flying, k.waiting = false, nil
	k.stripe.release(k)
}
