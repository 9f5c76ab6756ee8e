package chatguard

import (
	"context"
	"sync/atomic"
	"time"
)

// Hold waits until an allowed message may be delivered, which is at At+Delay. It never waits longer
// than Delay. Delay is at most the leaky-bucket's Queue × Every, unless the message is late (see
// Late). If the message has no SentAt, Hold waits for Delay from now. It returns nil at once if
// there is no Delay. Otherwise it returns nil after the wait, or the context's error if the context
// ends first. A loop that reads a WebSocket can't notice that the connection is closed while it
// waits in Hold; use a HoldQueue to keep reading. Check Allowed before you call Hold: a throttled
// message is never delivered.
func (v Verdict) Hold(ctx context.Context) error {
	if v.Delay <= 0 {
		return nil
	}
	return waitUntil(ctx, v.deliveryTime())
}

// deliveryTime returns when a message may be delivered. For a message without a time, deliveryTime
// adds Delay to the current time, since the Guard's clock may differ from this machine's. The
// result is never later than Delay from now, even if the clock that set At is ahead.
func (v *Verdict) deliveryTime() time.Time {
	turn, latest := v.At.Add(v.Delay), time.Now().Add(v.Delay)
	if v.atNow || turn.After(latest) {
		return latest
	}
	return turn
}

func waitUntil(ctx context.Context, turn time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	wait := time.Until(turn)
	if wait <= 0 {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// HoldQueue holds the messages of one connection until they may be delivered, while the caller
// continues to read the connection. It is safe for concurrent use. Create one with NewHoldQueue for
// each connection, and call Run in a goroutine.
type HoldQueue struct {
	guard  *Guard
	places chan struct{}   // one value per pending message
	held   chan heldInTurn // never full: it has room for every place
	begun  atomic.Bool
	ended  atomic.Bool
}

// heldInTurn is a pending message.
type heldInTurn struct {
	verdict Verdict
	turn    time.Time
	deliver func()
}

// NewHoldQueue returns a queue for at most size pending messages that the Guard has allowed. A size
// below 1 counts as 1. Use the leaky-bucket's Queue, plus a few for messages without a delay that
// arrive during a delivery. If guard is nil, what dropped messages have spent isn't given back.
//
// If everyone in a room shares the leaky-bucket (PerChannel), use one queue for the room instead of
// one for each connection. A place that a dropped message gives back goes to the next message, and
// only a single queue then keeps the pace.
func NewHoldQueue(guard *Guard, size int) *HoldQueue {
	size = max(size, 1)
	return &HoldQueue{guard: guard, places: make(chan struct{}, size), held: make(chan heldInTurn, size)}
}

// Add puts an allowed message at the end of the queue. Run calls deliver when the message's delay
// is over and all messages before it are delivered. Add never blocks. Add returns false if the
// queue is full, if Run has ended, or if v is throttled. The caller should then drop the message;
// deliver is never called, and what the message has spent is given back.
func (q *HoldQueue) Add(v Verdict, deliver func()) bool {
	if !v.Allowed {
		return false
	}
	select {
	case q.places <- struct{}{}:
		q.held <- heldInTurn{v, v.deliveryTime(), deliver}
		if q.ended.Load() { // Run doesn't deliver it any more
			q.drop()
			return false
		}
		return true
	default:
		q.guard.giveBack(v)
		return false
	}
}

// Run delivers messages one after another until the context ends. It then drops the pending
// messages, and gives back what they have spent. Pass the connection's context, such as that of
// httpguard.Session.Context. If deliver panics, Run ends with that panic, which ends the process
// unless the goroutine recovers. Run panics if it is called a second time.
func (q *HoldQueue) Run(ctx context.Context) {
	if q.begun.Swap(true) {
		panic("chatguard: HoldQueue.Run is called a second time")
	}
	defer q.drop()
	defer q.ended.Store(true)
	for {
		select {
		case next := <-q.held:
			if waitUntil(ctx, next.turn) != nil {
				q.guard.giveBack(next.verdict)
				return
			}
			<-q.places // no longer pending
			next.deliver()
		case <-ctx.Done():
			return
		}
	}
}

// drop drops the pending messages after Run has ended.
func (q *HoldQueue) drop() {
	for {
		select {
		case next := <-q.held:
			q.guard.giveBack(next.verdict)
		default:
			return
		}
	}
}
