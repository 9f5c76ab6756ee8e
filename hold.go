package chatguard

import (
	"context"
	"sync/atomic"
	"time"
)

// Hold waits until the turn of an allowed message has come: until At+Delay, and never longer than Delay, which a leaky-bucket bounds by
// Queue × Every, counted from now where the message is late. It returns nil at once where there is no Delay, nil when the turn has come, and the
// context's error when that ends first. Whoever waits in the loop that reads a WebSocket can't notice that it is closed: a HoldQueue lets
// reading go on. Look at Allowed first: a throttled message has no turn.
func (v *Verdict) Hold(ctx context.Context) error {
	if v.Delay <= 0 {
		return nil
	}
	return waitUntil(ctx, v.turnAt())
}

// turnAt is when a message's turn comes: after Delay where the message brought no time, for the Guard's clock needn't agree with this machine's, and
// after Delay at the latest, should the clock that At is from be ahead.
func (v *Verdict) turnAt() time.Time {
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

// HoldQueue holds the messages of one connection until their turns have come, while the connection is read on. It is safe for concurrent
// use; make one with NewHoldQueue for each connection, and start its Run in a goroutine.
type HoldQueue struct {
	places chan struct{}   // one value for each message that waits
	held   chan heldInTurn // never full: who has a place has room
	begun  atomic.Bool
	ended  atomic.Bool
}

// heldInTurn is a message that waits.
type heldInTurn struct {
	turn    time.Time
	deliver func()
}

// NewHoldQueue returns a queue in which at most size messages wait at once; less than 1 counts as 1. The Queue of the leaky-bucket, plus a few
// for messages that come without a delay while others are delivered, is enough.
func NewHoldQueue(size int) *HoldQueue {
	size = max(size, 1)
	return &HoldQueue{places: make(chan struct{}, size), held: make(chan heldInTurn, size)}
}

// Add puts an allowed message at the end of the queue; deliver is called once its turn has come and all before it are delivered, even where its
// own turn comes sooner than theirs. It never blocks. It reports false where the queue is full or Run has ended, then the message's cost is spent
// all the same, and for a throttled message: deliver is never called, and the message is to be dropped.
func (q *HoldQueue) Add(v Verdict, deliver func()) bool {
	if !v.Allowed || q.ended.Load() {
		return false
	}
	select {
	case q.places <- struct{}{}:
		q.held <- heldInTurn{v.turnAt(), deliver}
		return true
	default:
		return false
	}
}

// Run delivers messages, one after the other, until the context ends: let it be the connection's, as Session.Context is. Messages that still
// wait then are dropped. A deliver func that panics ends Run with its panic, and so the process, unless whoever started the goroutine recovers.
// Run panics when it is called a second time.
func (q *HoldQueue) Run(ctx context.Context) {
	if q.begun.Swap(true) {
		panic("chatguard: HoldQueue.Run is called a second time")
	}
	defer q.ended.Store(true)
	for {
		select {
		case next := <-q.held:
			if waitUntil(ctx, next.turn) != nil {
				return
			}
			<-q.places // it waits no more
			next.deliver()
		case <-ctx.Done():
			return
		}
	}
}
