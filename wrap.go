package chatguard

import (
	"context"
	"errors"
	"fmt"
)

// ErrUndelivered is for a MessageHandler that has failed to deliver its message. If its error wraps
// ErrUndelivered, Wrap gives back what the message has spent.
var ErrUndelivered = errors.New("chatguard: the message was not delivered")

// MessageHandler handles a message in a chat server, for example by sending it to the others in the
// room.
type MessageHandler func(ctx context.Context, m Message) error

// Wrap puts the Guard in front of a handler: it calls next with allowed messages only. If a
// leaky-bucket delays a message, Wrap holds it in the caller's goroutine, for at most its
// Verdict.Delay. If the context ends first, Wrap gives back what the message has spent, and returns
// the context's error without calling next. A HoldQueue holds messages without blocking the caller.
// If next fails, the message still counts, unless the error wraps ErrUndelivered.
//
// The returned handler returns a *ThrottledError for a throttled message, the error of Check for a
// message that can't be judged, and otherwise the error of next. It is safe for concurrent use if
// next is.
func (g *Guard) Wrap(next MessageHandler) MessageHandler {
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
			g.giveBack(v)
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
