package chatguard

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// Wait waits until the message may be sent, spends its cost, and returns the verdict. Use it to
// pace messages of one's own, for example to a server that has limits. It counts the message at the
// time of the Guard's clock and ignores SentAt. The wait itself takes real time, so Wait needs a
// clock that advances; in tests, use testing/synctest. If a leaky-bucket delays the message, Wait
// also waits for the delay. While it waits, it gives no strikes and notifies no observer. It never
// waits if the policy observes. If several goroutines wait for one user, any of them may be next.
//
// The error is one of Check, the context's error, or a *ThrottledError if waiting never helps. If
// the next message passes only after the context's deadline, Wait returns an error that wraps
// context.DeadlineExceeded at once. After an error, nothing is spent.
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
			g.giveBack(v)
			return v, ctx.Err()
		case v.Allowed && endsBefore(ctx, v.Delay):
			g.giveBack(v)
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

// endsBefore reports whether the context's deadline is before that wait is over.
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
		g.giveBack(v)
	}
	return err
}

// giveBack refunds one of the Guard's own verdicts. That fails only if the Guard's clock shows a
// time at which no message can be judged, and then nothing counts. A nil Guard gives nothing back.
func (g *Guard) giveBack(v Verdict) {
	if g != nil {
		_ = g.Refund(v)
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
// error is that of Refund.
func (r *Reservation) Cancel() error {
	if r == nil || r.cancelled.Swap(true) {
		return nil
	}
	return r.guard.Refund(r.Verdict)
}
