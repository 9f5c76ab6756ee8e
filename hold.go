package chatguard

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard/shared"
)

// Hold waits until an allowed message may be delivered, which is at At+Delay. It never waits longer
// than Delay. Delay is at most the leaky bucket's Queue × Every, unless the message is late (see
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
// below 1 counts as 1. For size, use the leaky bucket's Queue, plus a few for messages without a
// delay that arrive during a delivery. If guard is nil, what dropped messages have spent isn't
// given back.
//
// If everyone in a room shares the leaky bucket (PerChannel), use one queue for the room instead of
// one for each connection. A place that a dropped message gives back goes to the next message, and
// only a single queue then keeps the pace.
func NewHoldQueue(guard *Guard, size int) *HoldQueue {
	size = max(size, 1)
	return &HoldQueue{guard: guard, places: make(chan struct{}, size), held: make(chan heldInTurn, size)}
}

// Add puts an allowed message at the end of the queue. Run calls deliver when the message's delay
// is over and all messages before it are delivered. Add returns false if the queue is full, if Run
// has ended, or if v is throttled. The caller should then drop the message; deliver is never
// called, and what the message has spent is given back. Add never waits for a delivery. With
// Options.Shared, giving back waits for the store as Refund does, even if the context has ended.
func (q *HoldQueue) Add(ctx context.Context, v Verdict, deliver func()) bool {
	if !v.Allowed {
		return false
	}
	select {
	case q.places <- struct{}{}:
		q.held <- heldInTurn{v, v.deliveryTime(), deliver}
		if q.ended.Load() { // Run doesn't deliver it any more
			q.drop(ctx)
			return false
		}
		return true
	default:
		q.guard.giveBack(ctx, v)
		return false
	}
}

// Run delivers messages one after another until the context ends. It then drops the pending
// messages, and gives back what they have spent. Pass the connection's context, such as that of
// connguard.Session.Context. If deliver panics, Run ends with that panic, which ends the process
// unless the goroutine recovers. Run panics if it is called a second time.
func (q *HoldQueue) Run(ctx context.Context) {
	if q.begun.Swap(true) {
		panic("chatguard: HoldQueue.Run is called a second time")
	}
	defer q.drop(ctx)
	defer q.ended.Store(true)
	for {
		select {
		case next := <-q.held:
			if waitUntil(ctx, next.turn) != nil {
				q.guard.giveBack(ctx, next.verdict)
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
func (q *HoldQueue) drop(ctx context.Context) {
	for {
		select {
		case next := <-q.held:
			q.guard.giveBack(ctx, next.verdict)
		default:
			return
		}
	}
}

// Wait waits until the message may be sent, spends its cost, and returns the verdict. Use it to
// pace a program's own messages, for example to a server that has limits. It counts the message at
// the time of the Guard's clock and ignores SentAt. The wait itself takes real time, so Wait needs
// a clock that advances; in tests, use testing/synctest. If a leaky bucket delays the message, Wait
// also waits for the delay. While it waits, it gives no strikes and notifies no observer. It never
// waits if the policy observes. If several goroutines wait for one user, any of them may be next.
//
// The error is one of Check's errors, the context's error, or a *ThrottledError if waiting never
// helps. If the message would pass only after the context's deadline, Wait at once returns an error
// that wraps context.DeadlineExceeded. After an error, nothing is spent.
func (g *Guard) Wait(ctx context.Context, m Message) (v Verdict, err error) {
	m.SentAt = time.Time{}
	for {
		if err := ctx.Err(); err != nil {
			return v, err
		}
		v = Verdict{}
		if _, err := g.check(context.WithoutCancel(ctx), &m, &v, waiting); err != nil {
			return v, err
		}
		switch {
		case v.Allowed && ctx.Err() != nil:
			g.giveBack(ctx, v)
			return v, ctx.Err()
		case v.Allowed && endsBefore(ctx, v.Delay):
			g.giveBack(ctx, v)
			return v, errDeadline(v.Delay)
		case v.Allowed:
			return v, g.holdOrRefund(ctx, v)
		case v.Never:
			return v, &ThrottledError{v}
		}
		if endsBefore(ctx, v.RetryAfter) {
			return v, errDeadline(v.RetryAfter)
		}
		if err := waitUntil(ctx, time.Now().Add(v.RetryAfter)); err != nil {
			return v, err
		}
	}
}

// endsBefore reports whether the context's deadline passes before the wait is over.
func endsBefore(ctx context.Context, wait time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) < wait
}

func errDeadline(wait time.Duration) error {
	return fmt.Errorf("chatguard: the message passes in %s: %w", FormatWait(wait), context.DeadlineExceeded)
}

// holdOrRefund waits until an allowed message may be delivered. If the context ends first, it gives
// back what the message spent.
func (g *Guard) holdOrRefund(ctx context.Context, v Verdict) error {
	err := v.Hold(ctx)
	if err != nil {
		g.giveBack(ctx, v)
	}
	return err
}

// giveBack refunds one of the Guard's own verdicts. Often the context has ended, and the message is
// dropped for that reason: giveBack waits for the shared store all the same. It ignores errors,
// which mean that the store doesn't accept the refund, or that the Guard's clock shows a time at
// which no message can be judged. A nil Guard gives nothing back.
func (g *Guard) giveBack(ctx context.Context, v Verdict) {
	if g != nil {
		_ = g.Refund(context.WithoutCancel(ctx), v)
	}
}

// Reservation is a message that was judged and may still be cancelled. It is safe for concurrent
// use. Guard.Reserve returns it.
type Reservation struct {
	Verdict Verdict // Allowed reports whether the message may be sent

	guard     *Guard
	cancelled atomic.Bool
}

// Reserve judges a message like Check, and returns a Reservation that can give back what the
// message has spent. Use it if you know only later whether the message is sent. It doesn't reserve
// a later place for a throttled message; Wait waits for one. It returns the same errors as Check.
func (g *Guard) Reserve(ctx context.Context, m Message) (*Reservation, error) {
	v, err := g.Check(ctx, m)
	if err != nil {
		return nil, err
	}
	return &Reservation{Verdict: v, guard: g}, nil
}

// Cancel gives back what the message has spent, as Guard.Refund does. It does nothing if the
// message was throttled, if the reservation is already cancelled, or on a nil *Reservation. The
// error is that of Refund; after one that isn't shared.ErrUnconfirmed, a second Cancel tries again.
// If the request's context has ended, pass context.WithoutCancel of it.
func (r *Reservation) Cancel(ctx context.Context) error {
	if r == nil || r.cancelled.Swap(true) {
		return nil
	}
	err := r.guard.Refund(ctx, r.Verdict)
	if err != nil && !errors.Is(err, shared.ErrUnconfirmed) {
		r.cancelled.Store(false)
	}
	return err
}

// ErrUndelivered is for a MessageHandler that has failed to deliver its message. If the handler's
// error wraps ErrUndelivered, Wrap gives back what the message has spent.
var ErrUndelivered = errors.New("chatguard: the message was not delivered")

// MessageHandler handles a message in a chat server, for example by sending it to the others in the
// room.
type MessageHandler func(ctx context.Context, m Message) error

// Wrap puts the Guard in front of a handler: it calls next with allowed messages only. If a leaky
// bucket delays a message, Wrap holds it in the caller's goroutine, for at most its Verdict.Delay.
// If the context ends first, Wrap gives back what the message has spent, and returns the context's
// error without calling next. A HoldQueue holds messages without blocking the caller. If next
// fails, the message still counts, unless the error wraps ErrUndelivered.
//
// The returned handler returns a *ThrottledError for a throttled message, the error of Check for a
// message that can't be judged, and otherwise the error of next. It is safe for concurrent use if
// next is.
func (g *Guard) Wrap(next MessageHandler) MessageHandler {
	g.created()
	return func(ctx context.Context, m Message) error {
		v, err := g.Check(ctx, m)
		if err != nil {
			return err
		}
		if !v.Allowed {
			return &ThrottledError{v}
		}
		if err := g.holdOrRefund(ctx, v); err != nil {
			return err
		}
		if err = next(ctx, m); errors.Is(err, ErrUndelivered) {
			g.giveBack(ctx, v)
		}
		return err
	}
}

// ThrottledError is the error for a throttled message.
type ThrottledError struct{ Verdict Verdict }

// Error returns a text with the limit and the wait: "chatguard: throttled by burst: the next
// message passes in 4 s".
func (e *ThrottledError) Error() string {
	if e.Verdict.Never {
		return fmt.Sprintf("chatguard: throttled by %s: the message costs more than the limit can ever hold", e.Verdict.Limit)
	}
	return fmt.Sprintf("chatguard: throttled by %s: the next message passes in %s", e.Verdict.Limit, FormatWait(e.Verdict.RetryAfter))
}
